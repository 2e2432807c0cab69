// heddle: Two std::threads count words into one map under a mutex.
// kind: clean
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::map<std::string, int> counts{{"warp", 0}, {"weave", 0}, {"weft", 0}};
  std::mutex counts_lock;
  const std::vector<std::vector<std::string>> pages{{"warp", "weave"}, {"weave", "weft"}};
  std::vector<std::thread> counters;
  for (const auto &page : pages) {
    counters.emplace_back([&counts, &counts_lock, &page] {
      for (const auto &word : page) {
        std::lock_guard<std::mutex> guard(counts_lock);
        counts.find(word)->second += 1;
      }
    });
  }
  for (auto &counter : counters) counter.join();
  assert(counts["weave"] == 2);
  return 0;
}
