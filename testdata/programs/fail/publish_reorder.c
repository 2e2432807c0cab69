// heddle: Several threads publish the same two limits one after the other; a checker that looks in between sees one without the other.
// kind: assertion
// finding: low + high == 0
// minimum: switches=2 preemptions=1
// why: One publisher writes `low` and is left before it writes `high`; the checker reads both; main
//   ran before. Every publisher writes the same values, so only the first write of all opens the
//   gap. The publisher that is left is about to store, hence enabled.
#include <assert.h>
#include <pthread.h>

#define PUBLISHERS 4

static int low;
static _Alignas(64) int high;

static void *publisher(void *arg) {
  int limit = *(const int *)arg;
  low = -limit;
  high = limit;
  return NULL;
}

static void *checker(void *arg) {
  (void)arg;
  assert(low + high == 0);
  return NULL;
}

int main(void) {
  static const int limit = 250;
  pthread_t publishers[PUBLISHERS], c;
  for (int i = 0; i < PUBLISHERS; i++) pthread_create(&publishers[i], NULL, publisher, (void *)&limit);
  pthread_create(&c, NULL, checker, NULL);
  for (int i = 0; i < PUBLISHERS; i++) pthread_join(publishers[i], NULL);
  pthread_join(c, NULL);
  return 0;
}
// cause: low: assert(low + high == 0)
