// A reader retries until no writer was in between.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint seq;
static atomic_int x, y;

static void *writer(void *arg) {
  for (int i = 1; i <= 3; i++) {
    atomic_fetch_add(&seq, 1);
    atomic_store(&x, i);
    atomic_store(&y, i);
    atomic_fetch_add(&seq, 1);
  }
  return arg;
}

static void *reader(void *arg) {
  for (int i = 0; i < 2; i++)
    for (;;) {
      unsigned before = atomic_load(&seq);
      if (before & 1) { rest(); continue; }
      int a = atomic_load(&x), b = atomic_load(&y);
      if (atomic_load(&seq) == before) { assert(a == b); break; }
      rest();
    }
  return arg;
}

int main(void) {
  pthread_t t[3];
  pthread_create(&t[0], NULL, writer, NULL);
  pthread_create(&t[1], NULL, reader, NULL);
  pthread_create(&t[2], NULL, reader, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}
