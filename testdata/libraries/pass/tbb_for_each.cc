// heddle: A parallel for_each of the standard library adds to an atomic counter, and a parallel reduce needs none.
// kind: clean
// flags: -std=c++17 -ltbb
#include <algorithm>
#include <atomic>
#include <cassert>
#include <execution>
#include <numeric>
#include <vector>

static std::atomic<int> counter;

int main() {
  std::vector<int> v{1, 1, 1, 1};
  std::for_each(std::execution::par, v.begin(), v.end(), [](int n) { counter += n; });
  assert(counter == 4);
  assert(std::reduce(std::execution::par, v.begin(), v.end()) == 4);
  return 0;
}
