// heddle: A cache is searched under a shared lock and filled under an exclusive one without a second look.
// kind: assertion
// finding: computed == 1
// flags: -std=c++20
// minimum: switches=3 preemptions=1
// why: Both search before one of them fills the cache, and the other then fills it again: main in its
//   join, one thread up to its second lock, the other whole, the first again.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int value, computed;

static int get() {
  {
    std::shared_lock l(lock);
    if (value) return value;
  }
  std::unique_lock l(lock);
  computed++;
  assert(computed == 1);
  return value = 5;
}

int main() {
  int a = 0, b = 0;
  std::thread t([&] { a = get(); });
  std::thread u([&] { b = get(); });
  t.join();
  u.join();
  return a + b != 10;
}
