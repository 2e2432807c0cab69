#include "../compute.h"

#include <assert.h>

enum { THREADS = 3, ROUNDS = 2, STEPS = 10, ACCESSES_PER_OPTION = 430 };

struct option {
  long strike; // all amounts are in thousandths, so that sums do not depend on their order
  long price[STEPS + 1];
};

// The price of an American put in a binomial tree whose steps are of `step` thousandths.
static void price(struct option *o, long step) {
  long spot = 100000 - STEPS * step;
  for (int i = 0; i <= STEPS; i++) o->price[i] = spot + 2 * i * step < o->strike ? o->strike - spot - 2 * i * step : 0;
  for (int level = STEPS; level > 0; level--) {
    spot += step;
    for (int i = 0; i < level; i++) {
      long later = (o->price[i + 1] + o->price[i]) / 2, now = o->strike - spot - 2 * i * step;
      o->price[i] = later > now ? later : now;
    }
  }
}

int main(int argc, char **argv) {
  size_t count = work(argc, argv, (size_t)ROUNDS * ACCESSES_PER_OPTION);
  if (count < THREADS) count = THREADS;
  struct option *options = calloc(count, sizeof *options);
  for (size_t i = 0; i < count; i++) options[i].strike = 80000 + 1000 * (long)(i % 41);
  for (int round = 0; round < ROUNDS; round++) {
    long step = 3000 + 500 * round, total = 0, expected = 0;
#pragma omp parallel num_threads(THREADS)
    {
      long mine = 0;
#pragma omp for
      for (size_t i = 0; i < count; i++) {
        price(&options[i], step);
        mine += options[i].price[0];
      }
#ifndef SEEDED
#pragma omp atomic
#endif
      total += mine;
    }
    for (size_t i = 0; i < count; i++) {
      price(&options[i], step);
      expected += options[i].price[0];
    }
    assert(total == expected);
  }
  free(options);
  return 0;
}
