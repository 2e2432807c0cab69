// heddle: main returns while a detached thread is still at work, and the thread uses a registry whose destructor has already run.
// kind: assertion
// finding: open_
// minimum: switches=1 preemptions=1
// why: main's thread must have run the registry's destructor, and the detached thread must run
//   after that and before the process ends: main, thread. main is left inside its exit, between
//   the two destructors, where nothing blocks it.
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
  std::thread([] { the_registry.next_id(); }).detach();
  the_journal.write("started");
  return 0;
}
