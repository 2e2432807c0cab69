// once: A delay of many yields, and of time on a clock, before the flag that others wait for.
#include "rest.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;

static long ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *yields(void *arg) {
  for (int i = 0; i < 20000; i++) sched_yield();
  atomic_store(&a, 1);
  return arg;
}

static void *looks(void *arg) {
  for (long end = ms() + 2000; ms() < end;) sched_yield();
  for (long end = ms() + 20; ms() < end;) {}
  atomic_store(&b, 1);
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, yields, NULL);
  pthread_create(&t[1], NULL, looks, NULL);
  while (!atomic_load(&a) || !atomic_load(&b)) rest();
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
