// heddle: Two threads add one three times each without a lock; the sum can come down to two, the least there is.
// kind: assertion
// finding: sum > 2
// minimum: switches=7 preemptions=4
// why: Call the thread whose store is the last one B, the other one A. The last store is that of B's
//   third addition; it writes 2, so that addition loaded 1. Every store writes at least 1, so only
//   an addition that loads before all stores can store 1, and B's first one is overwritten by
//   B's second before B's third loads. So A's first addition loads before all stores and
//   stores between B's second store and B's third load; A's second store, at least 2, comes
//   after that load. Hence six intervals: A loads, B adds twice, A stores, B loads, A adds
//   twice, B stores; with main before (creation) and after (the assertion, behind both joins).
//   Nothing blocks, and all of the six but A's last and B's last leave a thread with work to
//   do: four preemptions.
#include <assert.h>
#include <pthread.h>

#define ADDITIONS 3

static int sum;

// Functions of their own, so that compilers keep, and instrument, each load and each store.
__attribute__((noinline)) static int load_sum(void) { return sum; }
__attribute__((noinline)) static void store_sum(int value) { sum = value; }

static void *adder(void *arg) {
  (void)arg;
  for (int i = 0; i < ADDITIONS; i++) store_sum(load_sum() + 1);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, adder, NULL);
  pthread_create(&b, NULL, adder, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(sum > 2);
  return 0;
}
// cause: sum: return sum | sum = value
