// heddle: Workers count a std::latch down before they store their result, so the waiting main may add up results that are not there.
// kind: assertion
// finding: total == 30
// minimum: switches=3 preemptions=1
// why: main passes the latch only after both workers have counted down: main, worker, worker,
//   main. One worker must still have its store ahead when main reads; it is enabled when it is
//   left, since a store never blocks. main itself waits in the latch when it is left.
// flags: -std=c++20
#include <cassert>
#include <latch>
#include <thread>

static int result[2];

int main() {
  std::latch counted(2);
  std::thread a([&] {
    counted.count_down();
    result[0] = 10;
  });
  std::thread b([&] {
    counted.count_down();
    result[1] = 20;
  });
  counted.wait();
  int total = result[0] + result[1];
  assert(total == 30);
  a.join();
  b.join();
  return 0;
}
