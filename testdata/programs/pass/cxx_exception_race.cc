// heddle: A queue throws when something is put in after it was closed, and the sender is ready for that.
// kind: clean
#include <cassert>
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
  std::size_t size() {
    std::lock_guard<std::mutex> guard(lock_);
    return messages_.size();
  }

 private:
  std::mutex lock_;
  std::deque<std::string> messages_;
  bool closed_ = false;
};

int main() {
  queue q;
  bool dropped = false;
  std::thread sender([&q, &dropped] {
    try {
      q.send("last words");
    } catch (const queue_closed &) {
      dropped = true;
    }
  });
  std::thread closer([&q] { q.close(); });
  sender.join();
  closer.join();
  assert(q.size() == (dropped ? 0u : 1u));
  return 0;
}
