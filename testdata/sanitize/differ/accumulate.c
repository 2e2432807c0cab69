// heddle: threads multiply and add to a total under a lock: always the same instructions on the same
//   places, but the order of the threads decides the values, so it is not pseudo-deterministic.
// kind: clean
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total = 1;

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  total = total * 3 + (long)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)t);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  printf("%d\n", total > 0);
  return 0;
}
