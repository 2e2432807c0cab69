// heddle: Workers count a std::latch down before they store their result, so the waiting main may add up results that are not there.
// kind: assertion
// finding: total == 30
// minimum: switches=3
// why: main passes the latch only after both workers have counted down: main, worker, worker,
//   main. One preemption is the least that is possible (a worker is left before its store), but
//   whether main is blocked when it is left first depends on how long the library's latch spins
//   before it sleeps.
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
