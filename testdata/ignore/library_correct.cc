// heddle: library.cc with a lock around the vector, and the mutexes taken in one order.
// kind: clean
#include <mutex>
#include <thread>
#include <vector>

static std::mutex own, a, b;
static std::vector<int> numbers;

static void inner(std::mutex &m) {
  m.lock();
  m.unlock();
}

static void first() {
  {
    std::lock_guard<std::mutex> guard(own);
    numbers.reserve(8);
  }
  a.lock();
  inner(b);
  a.unlock();
}

static void second() {
  {
    std::lock_guard<std::mutex> guard(own);
    numbers.reserve(8);
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
