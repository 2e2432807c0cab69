// heddle: One thread writes under a lock that the other does not take; a plain write races with an atomic load.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct stats { long requests, errors; };
static struct stats stats;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int ready;

__attribute__((noinline)) static void count(void) { stats.errors++; }

static void *locked(void *arg) {
  pthread_mutex_lock(&lock);
  count();
  pthread_mutex_unlock(&lock);
  ready = 1;
  return arg;
}

static void *wrongly_locked(void *arg) {
  pthread_mutex_lock(&other);
  count();
  pthread_mutex_unlock(&other);
  (void)__atomic_load_n(&ready, __ATOMIC_ACQUIRE);
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, locked, NULL);
  pthread_create(&b, NULL, wrongly_locked, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
