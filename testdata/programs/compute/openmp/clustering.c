#include "../compute.h"

#include <assert.h>
#include <string.h>

enum { THREADS = 3, PASSES = 4, CENTRES = 4, DIMENSIONS = 4, ACCESSES_PER_POINT = PASSES * CENTRES * DIMENSIONS * 9 };

struct point {
  long at[DIMENSIONS];
  int centre, before;
};

struct centres {
  long sum[CENTRES][DIMENSIONS], at[CENTRES][DIMENSIONS], size[CENTRES];
  size_t changes; // of points from one centre to another, in all passes
};

static long distance(const long *a, const long *b) {
  long sum = 0;
  for (int d = 0; d < DIMENSIONS; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

static void assign(struct point *p, const struct centres *c) {
  p->centre = 0;
  for (int k = 1; k < CENTRES; k++) {
    if (distance(p->at, c->at[k]) < distance(p->at, c->at[p->centre])) p->centre = k;
  }
}

static int changed(struct point *p) {
  int c = p->centre != p->before;
  p->before = p->centre;
  return c;
}

static void add(struct centres *c, const struct point *p) {
  c->size[p->centre]++;
  for (int d = 0; d < DIMENSIONS; d++) c->sum[p->centre][d] += p->at[d];
}

// move moves centre k to the mean of its points.
static void move(struct centres *c, int k) {
  for (int d = 0; d < DIMENSIONS; d++) {
    if (c->size[k]) c->at[k][d] = c->sum[k][d] / c->size[k];
    c->sum[k][d] = 0;
  }
  c->size[k] = 0;
}

static void cluster(struct point *points, size_t count, struct centres *c) {
#pragma omp parallel num_threads(THREADS)
  for (int pass = 0; pass < PASSES; pass++) {
    struct centres mine;
    memset(&mine, 0, sizeof mine);
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < count; i++) {
      assign(&points[i], c);
      add(&mine, &points[i]);
    }
#pragma omp critical
    for (int k = 0; k < CENTRES; k++) {
      c->size[k] += mine.size[k];
      for (int d = 0; d < DIMENSIONS; d++) c->sum[k][d] += mine.sum[k][d];
    }
#pragma omp barrier
#ifdef SEEDED
#pragma omp for schedule(static) nowait
#else
#pragma omp for schedule(static)
#endif
    for (int k = 0; k < CENTRES; k++) move(c, k);
    size_t mine_changed = 0;
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < count; i++) mine_changed += changed(&points[i]);
#pragma omp atomic
    c->changes += mine_changed;
  }
}

int main(int argc, char **argv) {
  size_t count = work(argc, argv, ACCESSES_PER_POINT);
  if (count < 4 * CENTRES) count = 4 * CENTRES;
  struct point *points = calloc(count, sizeof *points);
  struct centres parallel, expected;
  unsigned random = 5;
  for (size_t i = 0; i < count; i++) {
    for (int d = 0; d < DIMENSIONS; d++) points[i].at[d] = next_random(&random) % 1000;
  }
  memset(&parallel, 0, sizeof parallel);
  for (int k = 0; k < CENTRES; k++) memcpy(parallel.at[k], points[k].at, sizeof points[k].at);
  expected = parallel;
  cluster(points, count, &parallel);
  for (size_t i = 0; i < count; i++) points[i].before = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    for (size_t i = 0; i < count; i++) {
      assign(&points[i], &expected);
      add(&expected, &points[i]);
    }
    for (int k = 0; k < CENTRES; k++) move(&expected, k);
    for (size_t i = 0; i < count; i++) expected.changes += (size_t)changed(&points[i]);
  }
  assert(memcmp(parallel.at, expected.at, sizeof expected.at) == 0 && parallel.changes == expected.changes);
  free(points);
  return 0;
}
