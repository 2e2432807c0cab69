// heddle: Each thread counts into a block of its own, and the block's destructor adds it to the total under a lock when the thread ends.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t counts;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void add_to_total(void *block) {
  pthread_mutex_lock(&total_lock);
  total = total + *(long *)block;
  pthread_mutex_unlock(&total_lock);
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
