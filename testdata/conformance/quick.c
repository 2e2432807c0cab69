// heddle: quick_exit runs its own handlers, last first, and no others; nothing is flushed.
// kind: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include "say.h"

static void first(void) { puts("first"); fflush(stdout); }
static void second(void) { puts("second"); fflush(stdout); }
static void never(void) { puts("never"); fflush(stdout); }
static void *quits(void *arg) { quick_exit(*(int *)arg); }

int main(void) {
  int status = 9;
  pthread_t t;
  SAY(atexit(never));
  SAY(at_quick_exit(first));
  SAY(at_quick_exit(second));
  pthread_create(&t, NULL, quits, &status);
  pthread_join(t, NULL);
  return 0;
}
