// heddle: main stores whether the worker was started under a lock that the worker takes to look at it.
// kind: clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int started = -1;

static void *worker(void *arg) {
  pthread_mutex_lock(&m);
  assert(started == 0);
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  started = pthread_create(&t, NULL, worker, NULL);
  pthread_mutex_unlock(&m);
  if (started == 0) pthread_join(t, NULL);
  return 0;
}
