// Peterson's mutual exclusion.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int wants[2], turn;
static int count;

static void *worker(void *arg) {
  int me = (int)(intptr_t)arg;
  for (int i = 0; i < 3; i++) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) rest();
    count++;
    atomic_store(&wants[me], 0);
  }
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(count == 6);
}
