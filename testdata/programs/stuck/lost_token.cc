// C++: the token is taken and never returned.
#include "../spin/rest.h"
#include <atomic>
#include <thread>

static std::atomic<int> token{1};
static void worker() {
  int one = 1;
  while (!token.compare_exchange_strong(one, 0)) {
    one = 1;
    rest();
  }
}
int main() {
  std::thread a(worker), b(worker);
  a.join();
  b.join();
}
