// Two threads wait for a flag of the other's; one of them comes late.
#include "rest.h"
#include <pthread.h>

static volatile int a, b;

static void *one(void *arg) {
  while (!a) rest();
  b = 1;
  return arg;
}

static void *two(void *arg) {
  for (int i = 0; i < 30; i++) sched_yield();
  a = 1;
  while (!b) rest();
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, one, NULL);
  pthread_create(&t[1], NULL, two, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
