// What the programs of this directory have in common: two tests, of which each fails under some schedules.
#include <pthread.h>
#include <stddef.h>

static int counter, value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static inline void *inc(void *arg) {
  int old = counter;
  counter = old + 1;
  return arg;
}

static inline void *set(void *arg) {
  pthread_mutex_lock(&lock);
  value = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

// 2, or 1 if an increment is lost.
static inline int counted(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, inc, NULL);
  pthread_create(&u, NULL, inc, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  return counter;
}

// 0, or 1 if the thread comes first.
static inline int flagged(void) {
  pthread_t t;
  pthread_create(&t, NULL, set, NULL);
  pthread_mutex_lock(&lock);
  int seen = value;
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return seen;
}
