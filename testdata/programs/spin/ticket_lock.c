// Three threads take a lock in the order of their tickets.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ticket, serving;
static int count;

static void *worker(void *arg) {
  for (int i = 0; i < 2; i++) {
    int mine = atomic_fetch_add(&ticket, 1);
    while (atomic_load(&serving) != mine) rest();
    count++;
    atomic_fetch_add(&serving, 1);
  }
  return arg;
}

int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  assert(count == 6);
}
