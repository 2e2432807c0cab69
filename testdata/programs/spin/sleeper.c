// A thread waits for another that sleeps for long.
#include "rest.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int flag;

static void *sleeper(void *arg) {
  sleep(20);
  atomic_store(&flag, 1);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, sleeper, NULL);
  while (!atomic_load(&flag)) rest();
  pthread_join(t, NULL);
}
