// heddle: prices of options by a binomial tree with OpenMP: each iteration allocates its tree, and a
//   static schedule decides which thread does which.
// kind: clean
// flags: -fopenmp -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 6, STEPS = 4, THREADS = 2 };

int main(void) {
  double *prices = calloc(OPTIONS, sizeof *prices);
#pragma omp parallel for schedule(static) num_threads(THREADS)
  for (int i = 0; i < OPTIONS; i++) {
    double up = exp(0.1 + 0.01 * i), down = 1 / up, p = (1.01 - down) / (up - down);
    double *tree = malloc((STEPS + 1) * sizeof *tree);
    for (int k = 0; k <= STEPS; k++) {
      double end = 40 * pow(up, k) * pow(down, STEPS - k) - 42;
      tree[k] = end > 0 ? end : 0;
    }
    for (int step = STEPS; step > 0; step--)
      for (int k = 0; k < step; k++) tree[k] = (p * tree[k + 1] + (1 - p) * tree[k]) / 1.01;
    prices[i] = tree[0];
    free(tree);
  }
  double sum = 0;
  for (int i = 0; i < OPTIONS; i++) sum += prices[i];
  printf("%.4f\n", sum);
  free(prices);
  return 0;
}
