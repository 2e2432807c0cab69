// heddle: k-means with OpenMP: a static schedule gives each thread the same points in every
//   execution, and threads write to parts of their own.
// kind: clean
// flags: -fopenmp
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 18, THREADS = 3, CENTRES = 2, ROUNDS = 2 };

struct sums { double sum[CENTRES]; int count[CENTRES]; };

int main(void) {
  double *points = malloc(POINTS * sizeof *points), centres[CENTRES];
  for (int i = 0; i < POINTS; i++) points[i] = i * 7 % 13 + (i % 2) * 20;
  for (int c = 0; c < CENTRES; c++) centres[c] = points[c];
  for (int round = 0; round < ROUNDS; round++) {
    struct sums *parts = calloc(THREADS, sizeof *parts);
#pragma omp parallel num_threads(THREADS)
    {
      struct sums *mine = &parts[omp_get_thread_num()];
#pragma omp for schedule(static)
      for (int i = 0; i < POINTS; i++) {
        double a = points[i] - centres[0], b = points[i] - centres[1];
        int best = a * a > b * b;
        mine->sum[best] += points[i];
        mine->count[best]++;
      }
    }
    for (int c = 0; c < CENTRES; c++) {
      double sum = 0;
      int count = 0;
      for (int t = 0; t < THREADS; t++) sum += parts[t].sum[c], count += parts[t].count[c];
      if (count) centres[c] = sum / count;
    }
    free(parts);
  }
  printf("%.3f %.3f\n", centres[0], centres[1]);
  free(points);
  return 0;
}
