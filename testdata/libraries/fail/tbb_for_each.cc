// heddle: A parallel for_each of the standard library adds to a plain counter.
// kind: assertion
// finding: counter == 4
// flags: -std=c++17 -ltbb
#include <algorithm>
#include <atomic>
#include <cassert>
#include <execution>
#include <numeric>
#include <vector>

static int counter;

int main() {
  std::vector<int> v{1, 1, 1, 1};
  std::for_each(std::execution::par, v.begin(), v.end(), [](int n) { counter += n; });
  assert(counter == 4);
  return 0;
}
