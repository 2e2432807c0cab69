// heddle: Workers store their result before they count a std::latch down.
// kind: clean
// flags: -std=c++20
#include <cassert>
#include <latch>
#include <thread>

static int result[2];

int main() {
  std::latch counted(2);
  std::thread a([&] {
    result[0] = 10;
    counted.count_down();
  });
  std::thread b([&] {
    result[1] = 20;
    counted.count_down();
  });
  counted.wait();
  int total = result[0] + result[1];
  assert(total == 30);
  a.join();
  b.join();
  return 0;
}
