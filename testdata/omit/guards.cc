// Locks of the C++ library. The calls of pthread functions are in the library's headers: the line
// is that of the user's code, whether the compiler puts them in line or not.
#include <cassert>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex m;
static std::recursive_mutex again;
static std::shared_mutex shared;
static volatile int n; // two reads are two

static void add() {
  int v = n;
  n = v + 1;
}

static void guard() {
  std::lock_guard<std::mutex> hold(m); // needed guard: pthread_mutex_lock
  add();
}

static void unique() {
  std::unique_lock<std::mutex> hold(m); // needed unique: pthread_mutex_lock
  add();
  hold.unlock();
  hold.lock(); // needed unique: pthread_mutex_lock
  int one = n, two = n;
  assert(one == two);
}

static void scoped() {
  std::scoped_lock hold(again); // needed scoped: pthread_mutex_lock
  int v = n;
  {
    std::scoped_lock more(again); // spare scoped: pthread_mutex_lock
    v = v + 1;
  }
  n = v;
}

static void readers() {
  {
    std::unique_lock<std::shared_mutex> hold(shared); // needed readers: pthread_rwlock_wrlock
    add();
  }
  std::shared_lock<std::shared_mutex> hold(shared); // needed readers: pthread_rwlock_rdlock
  int one = n, two = n;
  assert(one == two);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  void (*run)() = nullptr;
  if (!std::strcmp(argv[1], "guard")) run = guard;
  if (!std::strcmp(argv[1], "unique")) run = unique;
  if (!std::strcmp(argv[1], "scoped")) run = scoped;
  if (!std::strcmp(argv[1], "readers")) run = readers;
  if (!run) return 2;
  std::thread a(run), b(run);
  a.join();
  b.join();
  assert(n == 2);
}
