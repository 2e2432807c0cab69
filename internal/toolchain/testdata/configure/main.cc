#include "config.h"
#include "count.h"

#include <thread>

int n;

int main() {
  std::thread t([] { count(&n); });
  t.join();
  return HAVE_CONFIG + count(&n) + 4; // 7
}
