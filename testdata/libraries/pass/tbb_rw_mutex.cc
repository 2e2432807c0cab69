// heddle: A queuing_rw_mutex guards a counter that two threads upgrade their lock to write.
// kind: clean
// flags: -std=c++17 -ltbb
#include <cassert>
#include <thread>
#include <tbb/queuing_rw_mutex.h>

static tbb::queuing_rw_mutex mutex;
static int counter, other;

static void add() {
  tbb::queuing_rw_mutex::scoped_lock lock(mutex, false);
  int seen = counter;
  if (!lock.upgrade_to_writer()) seen = counter;
  counter = seen + 1;
  lock.downgrade_to_reader();
  int again = counter;
  lock.release();
  tbb::queuing_rw_mutex::scoped_lock tried;
  while (!tried.try_acquire(mutex, true)) std::this_thread::yield();
  other += again > 0;
}

int main() {
  std::thread a(add), b(add);
  a.join();
  b.join();
  assert(counter == 2 && other == 2);
  return 0;
}
