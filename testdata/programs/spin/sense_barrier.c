// A sense-reversing barrier, three rounds.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3 };
static atomic_int arrived, sense;

static void *worker(void *arg) {
  for (int round = 1; round <= 3; round++) {
    int mine = round & 1;
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
      atomic_store(&arrived, 0);
      atomic_store(&sense, mine);
    } else {
      while (atomic_load(&sense) != mine) rest();
    }
  }
  return arg;
}

int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}
