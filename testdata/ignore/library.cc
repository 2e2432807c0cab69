// heddle: two workers swap two numbers without a lock, and take two std::mutex in opposite
//   orders. Without optimization, the accesses and the locks are in functions of the library's headers.
// kind: deadlock
// finding: inner
// minimum: switches=2 preemptions=1
// why: main starts both and joins; the first is preempted with one lock held, the second takes the
//   other, and both are stuck.
#include <mutex>
#include <thread>
#include <utility>

static std::mutex a, b;
static int x = 1, y = 2;

static void inner(std::mutex &m) {
  m.lock();
  m.unlock();
}

static void first() {
  std::swap(x, y); // races
  a.lock();
  inner(b);
  a.unlock();
}

static void second() {
  std::swap(x, y); // races
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
