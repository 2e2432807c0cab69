// Blocks that one thread allocates and another uses, passed on by a relaxed store: nothing orders what the allocation
// wrote before the use. With -DFIX the store is a release and the load an acquire.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <thread>

#ifdef FIX
#define PUBLISH std::memory_order_release
#define OBTAIN std::memory_order_acquire
#else
#define PUBLISH std::memory_order_relaxed
#define OBTAIN std::memory_order_relaxed
#endif

static volatile int sum;

static void *aligned(size_t n) {
  void *p = nullptr;
  return posix_memalign(&p, 64, n) ? nullptr : p;
}

static void *grown(size_t n) {
  void *p = malloc(8);
  return realloc(p, n);
}

static void *mapped(size_t n) { return mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void pass(void *(*allocate)(), void (*use)(int *)) {
  std::atomic<int *> slot{nullptr};
  std::thread maker([&] { slot.store(static_cast<int *>(allocate()), PUBLISH); });
  std::thread user([&] {
    if (int *p = slot.load(OBTAIN))
      use(p);
  });
  maker.join();
  user.join();
}

static void read(int *p) { sum += *p; }
static void write(int *p) { *p = 1; }
static void clear(int *p) { memset(p, 0, 16); }
static void release(int *p) { free(p); }
static void last(int *p) { sum += reinterpret_cast<char *>(p)[99999]; }

int main() {
  pass([] { return malloc(20); }, read);
  pass([] { return calloc(3, 8); }, write);
  pass([] { return grown(28); }, read);
  pass([] { return aligned(32); }, clear);
  pass([] { return aligned_alloc(64, 64); }, release);
  pass([] { return static_cast<void *>(new int[11]); }, read);
  pass([] { return operator new(48, std::nothrow); }, read);
  pass([] { return static_cast<void *>(strdup("a text of 19 bytes")); }, read);
  pass([] { return mapped(8192); }, read);
  pass([] { return malloc(100000); }, last);
}
