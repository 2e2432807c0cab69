// heddle: Two threads pay into one account through functions that are always compiled into their callers, without a lock.
// kind: assertion
// finding: == 160
// minimum: switches=4 preemptions=1
// why: A payment is lost only if one thread is left between its load and its store of the balance
//   and the other stores meanwhile: payer, payer, payer, with main before (creation) and after
//   (the assertion, behind both joins). The first payer is left in plain arithmetic, hence enabled.
#include <cassert>
#include <thread>

#define INLINED __attribute__((always_inline)) inline

namespace bank {

struct account {
  long balance = 100;
  INLINED void add(long amount) { balance = balance + amount; }
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
