// once: Threads that do work under a lock and yield after each step do not spin, though they see
// nothing change; nor do those whose try to lock always succeeds.
#include "rest.h"
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int count, mine;

static void *worker(void *arg) {
  for (int i = 0; i < 6000; i++) {
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    sched_yield();
  }
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, NULL);
  while (mine < 9000)
    if (!pthread_mutex_trylock(&n)) {
      mine++;
      pthread_mutex_unlock(&n);
    }
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(count == 12000);
}
