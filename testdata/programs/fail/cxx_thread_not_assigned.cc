// heddle: A pool's worker looks itself up among the pool's threads before the pool has stored its std::thread.
// kind: assertion
// finding: self == 0
// minimum: switches=1 preemptions=1
// why: The worker must run, and main before it: two intervals. main has to be left between the
//   creation of the thread and its assignment, where nothing blocks it.
#include <cassert>
#include <thread>

struct Pool {
  std::thread worker;
  void run() {
    int self = worker.get_id() == std::this_thread::get_id() ? 0 : -1;
    assert(self == 0);
  }
  void start() { worker = std::thread([this] { run(); }); }
};

int main() {
  Pool pool;
  pool.start();
  pool.worker.join();
}
