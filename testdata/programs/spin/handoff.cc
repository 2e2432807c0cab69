// C++: flags and a spin lock of atomics, with the waits of <thread>.
#include "rest.h"
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

static std::atomic_flag held = ATOMIC_FLAG_INIT;
static std::atomic<bool> ready{false};
static int count;

static void worker() {
  while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
  for (int i = 0; i < 2; i++) {
    while (held.test_and_set(std::memory_order_acquire)) rest();
    count++;
    held.clear(std::memory_order_release);
  }
}

int main() {
  std::thread a(worker), b(worker);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ready = true;
  a.join();
  b.join();
  assert(count == 4);
}
