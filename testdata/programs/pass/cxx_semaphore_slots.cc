// heddle: A pool of two slots is guarded by a semaphore with two permits.
// kind: clean
// flags: -std=c++20
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
