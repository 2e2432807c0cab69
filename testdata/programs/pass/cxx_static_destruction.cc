// heddle: main joins its thread before it returns, so no destructor of a static runs under it.
// kind: clean
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// Constructed first, so destroyed last: writes the remaining entries.
class journal {
 public:
  ~journal() {
    std::lock_guard<std::mutex> guard(lock_);
    lines_.clear();
  }
  void write(std::string line) {
    std::lock_guard<std::mutex> guard(lock_);
    lines_.push_back(std::move(line));
  }

 private:
  std::mutex lock_;
  std::vector<std::string> lines_;
};

class registry {
 public:
  ~registry() {
    std::lock_guard<std::mutex> guard(lock_);
    open_ = false;
  }
  int next_id() {
    std::lock_guard<std::mutex> guard(lock_);
    assert(open_);
    return ++last_id_;
  }

 private:
  std::mutex lock_;
  bool open_ = true;
  int last_id_ = 0;
};

static journal the_journal;
static registry the_registry;

int main() {
  std::thread client([] { the_registry.next_id(); });
  the_journal.write("started");
  client.join();
  return 0;
}
