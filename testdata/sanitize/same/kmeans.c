// heddle: k-means as map-reduce: each thread assigns its points to the nearest centre and sums them
//   in a block of its own, which main merges; threads share nothing that one of them writes.
// kind: clean
// flags: -lm
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef POINTS
#define POINTS 24
#endif
enum { THREADS = 3, CENTRES = 2, ROUNDS = 2 };

struct point { double x, y; };
struct sums { struct point sum[CENTRES]; int count[CENTRES]; };
struct task { struct point *points; int n; struct point *centres; struct sums *result; };

static void *assign(void *arg) {
  struct task *t = arg;
  t->result = calloc(1, sizeof *t->result);
  for (int i = 0; i < t->n; i++) {
    int best = 0;
    double least = INFINITY;
    for (int c = 0; c < CENTRES; c++) {
      double d = hypot(t->points[i].x - t->centres[c].x, t->points[i].y - t->centres[c].y);
      if (d < least) least = d, best = c;
    }
    t->result->sum[best].x += t->points[i].x;
    t->result->sum[best].y += t->points[i].y;
    t->result->count[best]++;
  }
  return t;
}

int main(void) {
  struct point *points = malloc(POINTS * sizeof *points), *centres = malloc(CENTRES * sizeof *centres);
  for (int i = 0; i < POINTS; i++) points[i] = (struct point){ i * 7 % 13 + (i % 2) * 20, i * 5 % 11 };
  for (int c = 0; c < CENTRES; c++) centres[c] = points[c];
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS];
    struct task *tasks[THREADS];
    for (int t = 0; t < THREADS; t++) {
      tasks[t] = malloc(sizeof *tasks[t]);
      *tasks[t] = (struct task){ points + t * (POINTS / THREADS), POINTS / THREADS, centres, NULL };
      pthread_create(&threads[t], NULL, assign, tasks[t]);
    }
    struct sums all = { 0 };
    for (int t = 0; t < THREADS; t++) {
      pthread_join(threads[t], NULL);
      for (int c = 0; c < CENTRES; c++) {
        all.sum[c].x += tasks[t]->result->sum[c].x;
        all.sum[c].y += tasks[t]->result->sum[c].y;
        all.count[c] += tasks[t]->result->count[c];
      }
      free(tasks[t]->result);
      free(tasks[t]);
    }
    for (int c = 0; c < CENTRES; c++)
      if (all.count[c]) centres[c] = (struct point){ all.sum[c].x / all.count[c], all.sum[c].y / all.count[c] };
  }
  for (int c = 0; c < CENTRES; c++) printf("%.3f %.3f\n", centres[c].x, centres[c].y);
  free(points);
  free(centres);
  return 0;
}
