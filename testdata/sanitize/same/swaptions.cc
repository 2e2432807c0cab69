// heddle: prices of swaptions by simulation: each thread has a generator of random numbers with a
//   seed of its own and allocates its paths; nothing depends on which thread is faster.
// kind: clean
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct swaption {
  double strike, volatility;
  double mean = 0;
  std::unique_ptr<double[]> path;
};

class generator {
  std::uint64_t state;
public:
  explicit generator(std::uint64_t seed) : state(seed) {}
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;
  }
};

#ifndef TRIALS
#define TRIALS 3
#endif

static void simulate(std::vector<swaption> &all, std::size_t first, std::size_t last) {
  constexpr int steps = 4, trials = TRIALS;
  for (std::size_t i = first; i < last; i++) {
    generator random(i + 1);
    swaption &s = all[i];
    s.path = std::make_unique<double[]>(steps + 1);
    double sum = 0;
    for (int trial = 0; trial < trials; trial++) {
      s.path[0] = 0.05;
      for (int k = 0; k < steps; k++) s.path[k + 1] = s.path[k] * std::exp(s.volatility * random.next());
      sum += std::max(0.0, s.path[steps] - s.strike);
    }
    s.mean = sum / trials;
  }
}

int main() {
  constexpr std::size_t threads = 3, each = 2;
  std::vector<swaption> all(threads * each);
  for (std::size_t i = 0; i < all.size(); i++) all[i].strike = 0.04 + 0.002 * i, all[i].volatility = 0.2;
  std::vector<std::thread> pool;
  for (std::size_t t = 0; t < threads; t++) pool.emplace_back(simulate, std::ref(all), t * each, (t + 1) * each);
  for (auto &t : pool) t.join();
  for (auto &s : all) std::printf("%.6f\n", s.mean);
}
