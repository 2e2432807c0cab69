// heddle: Each thread counts into a block of its own, and the block's destructor adds it to the total when the thread ends, without a lock.
// kind: assertion
// finding: total == 9
// minimum: switches=4 preemptions=1
// why: A thread's counts are lost only if its destructor is left between load and store of the
//   total while the other thread's destructor stores: thread, thread, thread, with main before
//   (creation) and after (the assertion, behind both joins). The destructor is left in plain
//   arithmetic, where its thread is enabled.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t counts;
static long total;

static void add_to_total(void *block) {
  total = total + *(long *)block;
  free(block);
}

static void count(void) {
  long *own = pthread_getspecific(counts);
  if (own == NULL) {
    own = calloc(1, sizeof *own);
    pthread_setspecific(counts, own);
  }
  ++*own;
}

static void *worker(void *arg) {
  for (int i = 0; i < *(const int *)arg; i++) count();
  return NULL;
}

int main(void) {
  static const int work[2] = {4, 5};
  pthread_t workers[2];
  pthread_key_create(&counts, add_to_total);
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, worker, (void *)&work[i]);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  pthread_key_delete(counts);
  assert(total == 9);
  return 0;
}
// cause: total: total = total + *(long *)block
