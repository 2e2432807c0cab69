// heddle: The twin of locks_and_atomics.c: both threads take one lock, and the flag is atomic on both sides.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct stats { long requests, errors; };
static struct stats stats;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

__attribute__((noinline)) static void count(void) { stats.errors++; }

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  count();
  pthread_mutex_unlock(&lock);
  if (arg) __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  else (void)__atomic_load_n(&ready, __ATOMIC_ACQUIRE);
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, work, &stats);
  pthread_create(&b, NULL, work, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
