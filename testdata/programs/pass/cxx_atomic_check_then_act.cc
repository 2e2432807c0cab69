// heddle: A rate limiter takes a token by compare-and-swap, which fails if the number it looked at has changed.
// kind: clean
#include <atomic>
#include <cassert>
#include <thread>

class limiter {
 public:
  explicit limiter(short tokens) : tokens_(tokens) {}
  bool admit() {
    short seen = tokens_.load();
    while (seen > 0) {
      short left = static_cast<short>(seen - 1);
      if (tokens_.compare_exchange_weak(seen, left)) {
        assert(left >= 0);
        return true;
      }
    }
    return false;
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
  assert(served[0] != served[1]);
  return 0;
}
