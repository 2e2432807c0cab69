// heddle: A pool's worker waits until the pool has stored its std::thread before it looks itself up.
// kind: clean
#include <cassert>
#include <future>
#include <thread>

struct Pool {
  std::promise<void> stored;
  std::thread worker;
  void run() {
    stored.get_future().wait();
    int self = worker.get_id() == std::this_thread::get_id() ? 0 : -1;
    assert(self == 0);
  }
  void start() {
    worker = std::thread([this] { run(); });
    stored.set_value();
  }
};

int main() {
  Pool pool;
  pool.start();
  pool.worker.join();
}
