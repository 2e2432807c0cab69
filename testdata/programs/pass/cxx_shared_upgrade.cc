// heddle: A cache is searched under a shared lock and, before it is filled, again under an exclusive one.
// kind: clean
// flags: -std=c++20
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
  if (value) return value;
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
