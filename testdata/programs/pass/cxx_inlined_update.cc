// heddle: Two threads pay into one account under its lock, through functions that are always compiled into their callers.
// kind: clean
#include <cassert>
#include <mutex>
#include <thread>

#define INLINED __attribute__((always_inline)) inline

namespace bank {

struct account {
  long balance = 100;
  std::mutex lock;
  INLINED void add(long amount) {
    std::lock_guard<std::mutex> guard(lock);
    balance = balance + amount;
  }
  INLINED void audit() const { assert(balance == 160); }
};

INLINED void pay(account &a, long amount) { a.add(amount); }

} // namespace bank

static bank::account savings;

int main() {
  std::thread one([] { bank::pay(savings, 20); });
  std::thread other([] { bank::pay(savings, 40); });
  one.join();
  other.join();
  savings.audit();
  return 0;
}
