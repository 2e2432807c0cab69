#include "compute.h"

#include <assert.h>
#include <pthread.h>

enum { WORKERS = 2, STEPS = 6, ELEMENTS = 32, NETS = 3, SIDE = 8, ACCESSES_PER_MOVE = 60 };

struct element {
  int x, y;
  int nets[NETS]; // the elements that it is connected with
};

// A worker moves the elements of its own half of the chip.
static struct element elements[WORKERS][ELEMENTS];
static pthread_barrier_t barrier;
static long total; // length of all wires
#ifndef SEEDED
static pthread_mutex_t total_mutex = PTHREAD_MUTEX_INITIALIZER;
#endif
static size_t moves; // of a worker in a step

static long distance(const struct element *a, const struct element *b) { return labs((long)a->x - b->x) + labs((long)a->y - b->y); }

static long wires(const struct element *half, int i) {
  long length = 0;
  for (int k = 0; k < NETS; k++) length += distance(&half[i], &half[half[i].nets[k]]);
  return length;
}

static long length(const struct element *half) {
  long sum = 0;
  for (int i = 0; i < ELEMENTS; i++) sum += wires(half, i);
  return sum;
}

static void swap(struct element *a, struct element *b) {
  int x = a->x, y = a->y;
  a->x = b->x, a->y = b->y;
  b->x = x, b->y = y;
}

// anneal swaps elements, and keeps a swap if it lengthens their own wires by less than a threshold.
static void anneal(struct element *half, unsigned *random, long threshold) {
  for (size_t m = 0; m < moves; m++) {
    int a = (int)(next_random(random) % ELEMENTS), b = (int)(next_random(random) % ELEMENTS);
    long before = wires(half, a) + wires(half, b);
    swap(&half[a], &half[b]);
    if (wires(half, a) + wires(half, b) >= before + threshold) swap(&half[a], &half[b]);
  }
}

static void *worker(void *arg) {
  struct element *half = arg;
  unsigned random = (unsigned)(half - elements[0]) + 1;
  for (int step = 0; step < STEPS; step++) {
    long before = length(half);
    anneal(half, &random, 7 - step);
    long change = length(half) - before;
#ifndef SEEDED
    pthread_mutex_lock(&total_mutex);
#endif
    total += change;
#ifndef SEEDED
    pthread_mutex_unlock(&total_mutex);
#endif
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char **argv) {
  moves = work(argc, argv, (size_t)WORKERS * STEPS * ACCESSES_PER_MOVE);
  for (int w = 0; w < WORKERS; w++) {
    unsigned random = 7;
    for (int i = 0; i < ELEMENTS; i++) {
      elements[w][i].x = w * SIDE + i % SIDE;
      elements[w][i].y = i / SIDE;
      for (int k = 0; k < NETS; k++) elements[w][i].nets[k] = (int)(next_random(&random) % ELEMENTS);
    }
    total += length(elements[w]);
  }
  pthread_barrier_init(&barrier, NULL, WORKERS);
  pthread_t t[WORKERS];
  for (int w = 0; w < WORKERS; w++) pthread_create(&t[w], NULL, worker, elements[w]);
  for (int w = 0; w < WORKERS; w++) pthread_join(t[w], NULL);
  pthread_barrier_destroy(&barrier);
  long sum = 0;
  for (int w = 0; w < WORKERS; w++) sum += length(elements[w]);
  assert(total == sum);
  return 0;
}
