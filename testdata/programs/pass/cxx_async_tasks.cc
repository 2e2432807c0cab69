// heddle: std::async starts a thread for each of 5,000 tasks, six at a time; the results come back through futures.
// kind: clean
// executions: few
#include <cassert>
#include <future>
#include <vector>
#ifndef TASKS
#define TASKS 5004
#endif

int main() {
  long sum = 0;
  for (int n = 0; n < TASKS; n += 6) {
    std::vector<std::future<int>> results;
    for (int i = n; i < n + 6; i++) results.push_back(std::async(std::launch::async, [i] { return i; }));
    for (auto &r : results) sum += r.get();
  }
  assert(sum == long(TASKS) * (TASKS - 1) / 2);
}
