// heddle: two workers push to one vector without a lock, and two take two std::mutex in opposite
//   orders. Without optimization, the accesses and the locks are in functions of the library's headers.
// kind: deadlock
// finding: inner
// minimum: switches=2 preemptions=1
// why: main starts both and joins; the first is preempted with one lock held, the second takes the
//   other, and both are stuck.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex a, b;
static std::vector<int> numbers;

static void inner(std::mutex &m) {
  m.lock();
  m.unlock();
}

static void first() {
  numbers.reserve(8); // races
  a.lock();
  inner(b);
  a.unlock();
}

static void second() {
  numbers.reserve(8); // races
  b.lock();
  a.lock();
  a.unlock();
  b.unlock();
}

int main() {
  std::thread one(first), two(second);
  one.join();
  two.join();
}
