// heddle: prices of European options by the formula of Black and Scholes; threads share the table of
//   options, meet at a barrier between two rounds, and write to different parts of the prices.
// kind: clean
// flags: -lm
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 12, THREADS = 3, ROUNDS = 2 };

struct option { double price, strike, rate, volatility, time; int put; };

static struct option *options;
static double *prices;
static pthread_barrier_t round_end;

static double normal(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

static double value(const struct option *o) {
  double root = o->volatility * sqrt(o->time);
  double d1 = (log(o->price / o->strike) + (o->rate + o->volatility * o->volatility / 2) * o->time) / root;
  double d2 = d1 - root, discounted = o->strike * exp(-o->rate * o->time);
  return o->put ? discounted * normal(-d2) - o->price * normal(-d1) : o->price * normal(d1) - discounted * normal(d2);
}

static void *work(void *arg) {
  long id = (long)arg;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = (int)id * OPTIONS / THREADS; i < (int)(id + 1) * OPTIONS / THREADS; i++) prices[i] += value(&options[i]);
    pthread_barrier_wait(&round_end);
  }
  return NULL;
}

int main(void) {
  options = malloc(OPTIONS * sizeof *options);
  prices = calloc(OPTIONS, sizeof *prices);
  for (int i = 0; i < OPTIONS; i++) options[i] = (struct option){ 40 + i, 42, 0.05, 0.1 + 0.02 * i, 0.5, i % 2 };
  pthread_barrier_init(&round_end, NULL, THREADS);
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)t);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  double sum = 0;
  for (int i = 0; i < OPTIONS; i++) sum += prices[i];
  printf("%.6f\n", sum);
  free(prices);
  free(options);
  return 0;
}
