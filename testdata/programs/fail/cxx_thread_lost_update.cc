// heddle: Two std::threads count words into one map of plain ints, so counts for the same word can be lost.
// kind: assertion
// finding: counts["weave"] == 2
// minimum: switches=4 preemptions=1
// why: A count is lost only if one counter is left between its load and its store of the same
//   int and the other stores meanwhile: counter, counter, counter, with main before (creation)
//   and after (the assertion, behind both joins). The first counter is left in plain arithmetic,
//   hence enabled.
#include <cassert>
#include <map>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::map<std::string, int> counts{{"warp", 0}, {"weave", 0}, {"weft", 0}};
  const std::vector<std::vector<std::string>> pages{{"warp", "weave"}, {"weave", "weft"}};
  std::vector<std::thread> counters;
  for (const auto &page : pages) {
    counters.emplace_back([&counts, &page] {
      for (const auto &word : page) counts.find(word)->second += 1;
    });
  }
  for (auto &counter : counters) counter.join();
  assert(counts["weave"] == 2);
  return 0;
}
