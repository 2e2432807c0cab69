// heddle: The time-stamp counter goes on while a thread sleeps, and never back; a child reads it, too.
// kind: clean
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include "say.h"

static void *other(void *arg) {
  (void)arg;
  usleep(1000);
  return NULL;
}

int main(void) {
  unsigned processor;
  pthread_t t;
  unsigned long long before = __rdtsc();
  usleep(100000);
  unsigned long long slept = __rdtsc();
  printf("100 ms are a long time: %d\n", slept - before > 50000000);
  pthread_create(&t, NULL, other, NULL);
  pthread_join(t, NULL);
  unsigned long long last = __rdtscp(&processor), now;
  int back = last < slept;
  for (int i = 0; i < 1000; i++, last = now) back += (now = __rdtsc()) < last;
  printf("went back: %d\n", back);
  printf("a shell with a clock: %d\n", system("date >/dev/null"));
  last = __rdtsc();
  printf("after it: %d\n", __rdtsc() >= last);
}
