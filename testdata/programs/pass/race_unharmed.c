// heddle: The value is written under the lock that the flag is read under, by whoever comes first.
// kind: clean
#include <pthread.h>
#include <stddef.h>

int limit;
static int published;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *publish(void *arg) {
  pthread_mutex_lock(&lock);
  limit = 64;
  published = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

__attribute__((noinline)) static void by_default(void) { limit = 16; }

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  if (!published)
    by_default();
  pthread_mutex_unlock(&lock);
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
