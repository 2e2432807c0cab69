// heddle: A pool of two slots is guarded by a semaphore with two permits.
// kind: clean
// flags: -std=c++20

// The program is correct, but libstdc++ 12's semaphore is not, and an exhaustive search finds a deadlock.
// acquire reads the counter for the futex (_S_do_spin: __val), and then tries to take a permit several
// times. If __val is 1, others take that permit before the tries and one releases it after them, the
// counter is 1 again: the futex wait succeeds although a permit is free, and a later release wakes nobody,
// since it does so only at 0 (_M_release). Four preemptions are needed, which the usual number of
// executions does not reach.
#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>
#include <vector>

static std::counting_semaphore<4> permits(2);
static std::atomic<int> free_slots{2};

static void use() {
  permits.acquire();
  int left = --free_slots;
  assert(left >= 0 && "free_slots >= 0");
  free_slots++;
  permits.release();
}

int main() {
  std::vector<std::jthread> users;
  for (int i = 0; i < 3; i++) users.emplace_back(use);
}
