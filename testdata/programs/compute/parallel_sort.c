#include "compute.h"

#include <assert.h>
#include <pthread.h>

enum { WORKERS = 3, ACCESSES_PER_NUMBER = 150 };

static pthread_barrier_t barrier;
static size_t count;
static unsigned *numbers, *sorted, *spare;
static unsigned samples[WORKERS][WORKERS];
static size_t sizes[WORKERS][WORKERS]; // numbers of worker w for bucket b
static size_t partial[WORKERS];

// reduce returns the sum of all workers' x to each of them.
static size_t reduce(size_t me, size_t x) {
  partial[me] = x;
  pthread_barrier_wait(&barrier);
  size_t sum = 0;
  for (int w = 0; w < WORKERS; w++) sum += partial[w];
#ifndef SEEDED
  pthread_barrier_wait(&barrier);
#endif
  return sum;
}

static void sort(unsigned *from, unsigned *to, size_t n) {
  if (n < 2) return;
  size_t half = n / 2, i = 0, j = half;
  sort(from, to, half);
  sort(from + half, to + half, n - half);
  for (size_t k = 0; k < n; k++) to[k] = i < half && (j == n || from[i] <= from[j]) ? from[i++] : from[j++];
  for (size_t k = 0; k < n; k++) from[k] = to[k];
}

static int bucket(unsigned x, const unsigned splitters[WORKERS - 1]) {
  int b = 0;
  while (b < WORKERS - 1 && x >= splitters[b]) b++;
  return b;
}

// worker is one of those of a sample sort: sort a part, agree on splitters, scatter into buckets,
// sort a bucket.
static void *worker(void *arg) {
  size_t me = (size_t)arg, from = count * me / WORKERS, to = count * (me + 1) / WORKERS;
  sort(numbers + from, spare + from, to - from);
  for (size_t s = 0; s < WORKERS; s++) samples[me][s] = numbers[from + (to - from) * s / WORKERS];
  pthread_barrier_wait(&barrier);

  unsigned all[WORKERS * WORKERS], scratch[WORKERS * WORKERS], splitters[WORKERS - 1];
  for (int i = 0; i < WORKERS * WORKERS; i++) all[i] = samples[i / WORKERS][i % WORKERS];
  sort(all, scratch, WORKERS * WORKERS);
  for (int s = 0; s < WORKERS - 1; s++) splitters[s] = all[(s + 1) * WORKERS];
  size_t mine[WORKERS] = {0};
  for (size_t i = from; i < to; i++) mine[bucket(numbers[i], splitters)]++;
  for (int b = 0; b < WORKERS; b++) sizes[me][b] = mine[b];
  pthread_barrier_wait(&barrier);

  // Bucket b begins after all smaller ones, and this worker's share of it after the shares of
  // those before him.
  size_t at[WORKERS], begin = 0, end = 0, next = 0;
  for (size_t b = 0; b < WORKERS; b++) {
    if (b == me) begin = next;
    for (size_t w = 0; w < WORKERS; w++) {
      if (w == me) at[b] = next;
      next += sizes[w][b];
    }
    if (b == me) end = next;
  }
  for (size_t i = from; i < to; i++) sorted[at[bucket(numbers[i], splitters)]++] = numbers[i];
  assert(reduce(me, end - begin) == count);

  sort(sorted + begin, spare + begin, end - begin);
  size_t sum = 0;
  for (size_t i = begin; i < end; i++) sum += sorted[i];
  (void)reduce(me, sum);
  return NULL;
}

int main(int argc, char **argv) {
  count = work(argc, argv, ACCESSES_PER_NUMBER);
  if (count < 4 * WORKERS) count = 4 * WORKERS;
  numbers = malloc(count * sizeof *numbers);
  sorted = malloc(count * sizeof *sorted);
  spare = malloc(count * sizeof *spare);
  unsigned random = 1;
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[i] = next_random(&random);
  pthread_barrier_init(&barrier, NULL, WORKERS);
  pthread_t t[WORKERS];
  for (size_t i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, worker, (void *)i);
  for (size_t i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  pthread_barrier_destroy(&barrier);
  for (size_t i = 0; i < count; i++) {
    assert(i == 0 || sorted[i - 1] <= sorted[i]);
    sum -= sorted[i];
  }
  assert(sum == 0);
  free(numbers);
  free(sorted);
  free(spare);
  return 0;
}
