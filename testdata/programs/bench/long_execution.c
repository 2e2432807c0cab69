// heddle: Four threads make 20,000 atomic increments each; 80,018 scheduling points. The measure of long executions, of traces on disk and of what reads them.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define INCREMENTS 20000

static atomic_long count;

static void *worker(void *arg) {
  (void)arg;
  for (int i = 0; i < INCREMENTS; i++) atomic_fetch_add(&count, 1);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  long total = atomic_load(&count);
  assert(total == (long)THREADS * INCREMENTS);
  return 0;
}
