// The claims are those of sample.c; names of functions are as a C++ programmer says them.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <link.h>
#include <mutex>
#include <utility>
#include <vector>

#include "shape.h"

static uintptr_t base;

static int find_base(dl_phdr_info *info, size_t, void *) {
  base = info->dlpi_addr;
  return 1;
}

extern "C" __attribute__((noinline)) void mark(const char *chain) {
  printf("call %lx %s\n", (uintptr_t)__builtin_return_address(0) - base, chain);
}

#define DATA(object, size, name) printf("data %lx %zu %s\n", (uintptr_t)&(object) - base, (size_t)(size), name)
#define VALUE(object, bits, text) printf("value %llx %zu %lx %s\n", (unsigned long long)(bits), sizeof(object), (uintptr_t)&(object) - base, text)

namespace bank {

template <typename T> class Ring {
public:
  __attribute__((always_inline)) void push(T v, const char *chain) {
    mark(chain);
    slot[n++ % 4] = v;
  }
  __attribute__((noinline)) void fill(T v);
  T slot[4];
  unsigned n;
};

template <typename T> __attribute__((noinline)) void Ring<T>::fill(T v) {
  push(v, "bank::Ring<int>::push|bank::Ring<int>::fill");
  mark("bank::Ring<int>::fill");
}

struct Base {
  long padding;
  int total;
};

struct Account : Base {
  std::mutex mu;
  std::condition_variable cv;
  std::atomic<int> version;
  std::array<short, 8> history;
  std::pair<int, long> limits;
  std::vector<int> log;
  static int opened;
};

int Account::opened;
Account account;
Ring<int> ring;

namespace {
std::atomic<bool> ready;

__attribute__((noinline)) void hidden() { mark("bank::(anonymous namespace)::hidden"); }
} // namespace

struct Door {
  void shut();
};

void Door::shut() { mark("*bank::Door::shut"); }

void run() {
  static int calls;
  DATA(calls, 4, "bank::run()::calls");
  auto step = [](const char *chain) __attribute__((noinline)) { mark(chain); };
  step("*operator()");
  hidden();
  Door().shut();
  DATA(ready, 1, "bank::(anonymous namespace)::ready");
  VALUE(ready, 1, "true");
}

} // namespace bank

Shape shape; // described in shape.cc only

int main() {
  dl_iterate_phdr(find_base, nullptr);
  bank::ring.fill(3);
  bank::run();
  shape.area();
  mark("main");
  DATA(bank::account.total, 4, "bank::account.total");
  DATA(bank::account.mu, 0, "bank::account.mu");
  DATA(bank::account.cv, 0, "bank::account.cv");
  DATA(bank::account.version, 4, "bank::account.version");
  DATA(bank::account.history[5], 2, "bank::account.history[5]");
  DATA(bank::account.limits.second, 8, "bank::account.limits.second");
  DATA(bank::account.log, 8, "bank::account.log");
  printf("data %lx 8 bank::account.log+8\n", (uintptr_t)&bank::account.log - base + 8);
  DATA(bank::Account::opened, 4, "bank::Account::opened");
  DATA(bank::ring.slot[3], 4, "bank::ring.slot[3]");
  DATA(shape.sides, 4, "shape.sides");
  VALUE(bank::account.version, 0xfffffffe, "-2");
  VALUE(bank::account.total, 7, "7");
}
