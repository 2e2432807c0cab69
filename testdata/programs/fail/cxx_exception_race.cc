// heddle: A queue throws when an item is put in after it was closed; the closing thread may be first, and the exception is not caught.
// kind: exception
// finding: queue_closed
// minimum: switches=2 preemptions=0
// why: The closer must close before the sender sends, and both run after main has started them.
//   The closer can end, and main waits in its join.
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

struct queue_closed : std::logic_error {
  queue_closed() : std::logic_error("the queue is closed") {}
};

class queue {
 public:
  void send(std::string message) {
    std::lock_guard<std::mutex> guard(lock_);
    if (closed_) throw queue_closed();
    messages_.push_back(std::move(message));
  }
  void close() {
    std::lock_guard<std::mutex> guard(lock_);
    closed_ = true;
  }

 private:
  std::mutex lock_;
  std::deque<std::string> messages_;
  bool closed_ = false;
};

int main() {
  queue q;
  std::thread sender([&q] { q.send("last words"); });
  std::thread closer([&q] { q.close(); });
  sender.join();
  closer.join();
  return 0;
}
