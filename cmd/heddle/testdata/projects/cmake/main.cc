// Two threads deliver to one store. With an argument they do it under its lock; without, a
// delivery can be lost, and the assertion fails.
#undef NDEBUG // the assertion stays in release builds, too
#include "store.h"

#include <cassert>
#include <thread>

int main(int argc, char **) {
  bool locked = argc > 1;
  std::thread one([=] { deliver(3, locked); });
  std::thread other([=] { deliver(4, locked); });
  one.join();
  other.join();
  assert(stock() == 7);
  return 0;
}
