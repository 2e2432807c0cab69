// main joins a thread if it has ended. It may find it busy after any of its operations, also where main
// waited for another thread when this one stored. Four behaviours, of which one may fail.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef FAILS
#define FAILS 3 // never; with 1, if the thread has stored before the other one, and not yet ended
#endif

static atomic_int last;

static void *first(void *arg) {
  (void)arg;
  atomic_store(&last, 1);
  return NULL;
}

static void *second(void *arg) {
  (void)arg;
  atomic_store(&last, 2);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, first, NULL);
  pthread_create(&b, NULL, second, NULL);
  pthread_join(a, NULL);
  int busy = pthread_tryjoin_np(b, NULL);
  if (busy) pthread_join(b, NULL);
  assert(!(busy && last == FAILS));
  return 0;
}
