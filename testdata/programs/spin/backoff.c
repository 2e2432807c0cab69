// Test-and-set with exponential back-off.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag held = ATOMIC_FLAG_INIT;
static int count;

static void *worker(void *arg) {
  for (int i = 0; i < 2; i++) {
    for (int delay = 1; atomic_flag_test_and_set(&held);) {
      for (int k = 0; k < delay; k++) rest();
      if (delay < 64) delay *= 2;
    }
    count++;
    atomic_flag_clear(&held);
  }
  return arg;
}

int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  assert(count == 6);
}
