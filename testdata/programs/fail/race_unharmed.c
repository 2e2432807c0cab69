// heddle: A worker that comes before the configuration is published sets a default, while the other one writes the configured value without a lock: nothing breaks, but the two writes race.
// kind: data race
// finding: by_default
// minimum: switches=3 preemptions=0
// why: main, the worker that finds nothing published, the one that publishes, and main to join
//   both. The writes race only if the flag was not set yet when it was looked at: then the lock
//   orders nothing but the look before the setting.
#include <pthread.h>
#include <stddef.h>

int limit;
static int published;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *publish(void *arg) {
  limit = 64;
  pthread_mutex_lock(&lock);
  published = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

__attribute__((noinline)) static void by_default(void) { limit = 16; }

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  int known = published;
  pthread_mutex_unlock(&lock);
  if (!known)
    by_default();
  return arg;
}

int main(void) {
  pthread_t publisher, worker;
  pthread_create(&publisher, NULL, publish, NULL);
  pthread_create(&worker, NULL, work, NULL);
  pthread_join(publisher, NULL);
  pthread_join(worker, NULL);
  return 0;
}
