#include "../compute.h"

#include <assert.h>

enum { THREADS = 3, LEVELS = 1, ACCESSES_PER_NUMBER = 200 };

static void merge(unsigned *from, unsigned *to, size_t part, size_t n) {
  size_t i = 0, j = part;
  for (size_t k = 0; k < n; k++) to[k] = i < part && (j == n || from[i] <= from[j]) ? from[i++] : from[j++];
  for (size_t k = 0; k < n; k++) from[k] = to[k];
}

// sort makes a task of the smaller part on the uppermost levels, and sorts the larger one meanwhile.
static void sort(unsigned *from, unsigned *to, size_t n, int level) {
  if (n < 2) return;
  size_t part = level < LEVELS ? n / 3 : n / 2;
#pragma omp task if (level < LEVELS)
  sort(from, to, part, level + 1);
  sort(from + part, to + part, n - part, level + 1);
#ifndef SEEDED
#pragma omp taskwait
#endif
  merge(from, to, part, n);
}

int main(int argc, char **argv) {
  size_t count = work(argc, argv, ACCESSES_PER_NUMBER);
  if (count < 16) count = 16;
  unsigned *numbers = malloc(count * sizeof *numbers), *spare = malloc(count * sizeof *spare), random = 1;
  unsigned long sum = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[i] = next_random(&random);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  sort(numbers, spare, count, 0);
  for (size_t i = 0; i < count; i++) {
    assert(i == 0 || numbers[i - 1] <= numbers[i]);
    sum -= numbers[i];
  }
  assert(sum == 0);
  free(numbers);
  free(spare);
  return 0;
}
