// heddle: A rate limiter loads the number of tokens left and subtracts one later; each step is atomic, the two together are not.
// kind: assertion
// finding: left >= 0
// minimum: switches=3 preemptions=1
// why: The request that fails loads while the last token is there and subtracts after the other
//   request has: request, request, request, with main before them, waiting in its join. Atomics
//   never block, so the preempted request is enabled.
#include <atomic>
#include <cassert>
#include <thread>

class limiter {
 public:
  explicit limiter(short tokens) : tokens_(tokens) {}
  bool admit() {
    if (tokens_.load() <= 0) return false;
    short left = static_cast<short>(tokens_.fetch_sub(1) - 1);
    assert(left >= 0);
    return true;
  }

 private:
  std::atomic<short> tokens_;
};

int main() {
  limiter requests(1);
  bool served[2] = {false, false};
  std::thread a([&] { served[0] = requests.admit(); });
  std::thread b([&] { served[1] = requests.admit(); });
  a.join();
  b.join();
  return 0;
}
