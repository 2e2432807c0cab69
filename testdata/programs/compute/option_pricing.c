#include "compute.h"

#include <assert.h>
#include <pthread.h>

// STEPS is the depth of the tree of prices. Each option is priced in each round, once by a worker
// and once by main to check the result.
enum { WORKERS = 3, ROUNDS = 2, STEPS = 10, ACCESSES_PER_OPTION = 430 };

struct option {
  double strike, hedge;
  double price[STEPS + 1]; // price[0] is the result; the rest is the tree's current level
};

static pthread_barrier_t barrier;
static struct option *options;
static size_t count;
static double volatility = 1.05, value;

// The price of an American put in a binomial tree that moves up and down by u.
static void price(struct option *o, double u) {
  double spot = 100;
  for (int i = 0; i < STEPS; i++) spot /= u;
  double p = (1 - 1 / u) / (u - 1 / u);
  double s = spot;
  for (int i = 0; i <= STEPS; i++, s *= u * u) o->price[i] = s < o->strike ? o->strike - s : 0;
  for (int step = STEPS; step > 0; step--) {
    spot *= u;
    s = spot;
    for (int i = 0; i < step; i++, s *= u * u) {
      double later = (p * o->price[i + 1] + (1 - p) * o->price[i]) * 0.999;
      o->price[i] = later > o->strike - s ? later : o->strike - s;
    }
  }
}

// hedge is how much of the underlying balances the option, from the prices one step into the tree
// that pricing has left behind.
static double hedge(const struct option *o, double u) {
  double sum = 0;
  for (int i = 1; i < STEPS; i++) sum += (o->price[i + 1] - o->price[i]) / (100 * (u - 1 / u));
  return sum / STEPS;
}

// total is the portfolio's value; the next round's volatility depends on it.
static double total(const struct option *o) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += o[i].price[0];
  return sum;
}

static double next_volatility(double sum) { return 1.02 + 0.08 / (1 + sum / (double)count); }

static struct option *portfolio(void) {
  struct option *o = calloc(count, sizeof *o);
  for (size_t i = 0; i < count; i++) o[i].strike = 80 + (double)(i % 41);
  return o;
}

static void *worker(void *arg) {
  size_t me = (size_t)arg, from = count * me / WORKERS, to = count * (me + 1) / WORKERS;
  for (int round = 0; round < ROUNDS; round++) {
    double u = volatility;
    for (size_t i = from; i < to; i++) price(&options[i], u);
    pthread_barrier_wait(&barrier);
    if (me == 0) {
      value = total(options);
      volatility = next_volatility(value);
    }
    for (size_t i = from; i < to; i++) options[i].hedge += hedge(&options[i], u);
#ifndef SEEDED
    pthread_barrier_wait(&barrier);
#endif
  }
  return NULL;
}

int main(int argc, char **argv) {
  count = work(argc, argv, (size_t)ROUNDS * ACCESSES_PER_OPTION);
  if (count < WORKERS) count = WORKERS;
  options = portfolio();
  pthread_barrier_init(&barrier, NULL, WORKERS);
  pthread_t t[WORKERS];
  for (size_t i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, worker, (void *)i);
  for (size_t i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  pthread_barrier_destroy(&barrier);
  struct option *again = portfolio();
  double u = 1.05, sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < count; i++) price(&again[i], u);
    sum = total(again);
    for (size_t i = 0; i < count; i++) again[i].hedge += hedge(&again[i], u);
    u = next_volatility(sum);
  }
  assert(value == sum);
  for (size_t i = 0; i < count; i++) assert(options[i].hedge == again[i].hedge);
  free(options);
  free(again);
  return 0;
}
