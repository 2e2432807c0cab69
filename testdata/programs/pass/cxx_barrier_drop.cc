// heddle: A worker with nothing more to do stores its last result and then leaves the barrier.
// kind: clean
// flags: -std=c++20
#include <atomic>
#include <barrier>
#include <cassert>
#include <thread>

static std::barrier phase(2);
static std::atomic<int> result[2];

static void short_worker() {
  result[0].store(1, std::memory_order_relaxed);
  phase.arrive_and_drop();
}

static void long_worker() {
  result[1].store(2, std::memory_order_relaxed);
  phase.arrive_and_wait();
  int sum = result[0].load(std::memory_order_relaxed) + result[1].load(std::memory_order_relaxed);
  assert(sum == 3);
}

int main() {
  std::thread a(short_worker), b(long_worker);
  a.join();
  b.join();
}
