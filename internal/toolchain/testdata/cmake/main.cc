#include "count.h"

#include <thread>

int n;

int main() {
  std::thread t([] { count(&n); });
  t.join();
  return count(&n) + 5; // 7
}
