// heddle: library.cc with a lock around the swap, and the mutexes taken in one order.
// kind: clean
#include <mutex>
#include <thread>
#include <utility>

static std::mutex own, a, b;
static int x = 1, y = 2;

static void inner(std::mutex &m) {
  m.lock();
  m.unlock();
}

static void first() {
  {
    std::lock_guard<std::mutex> guard(own);
    std::swap(x, y);
  }
  a.lock();
  inner(b);
  a.unlock();
}

static void second() {
  {
    std::lock_guard<std::mutex> guard(own);
    std::swap(x, y);
  }
  a.lock();
  b.lock();
  b.unlock();
  a.unlock();
}

int main() {
  std::thread one(first), two(second);
  one.join();
  two.join();
}
