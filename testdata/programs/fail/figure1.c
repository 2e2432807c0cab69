// heddle: The program of FSE'10 Figure 1: the second thread waits for the first one's flag, and may change x between the first one's store and its test.
// kind: assertion
// finding: error
// minimum: switches=3 preemptions=1
// why: The first thread stores 1 and then reads 3, so the second thread runs between the two; and
//   the second thread passes its loop only after the first one's store to flag: first, second,
//   first, with main before them. The first thread is left before its read, where it is enabled;
//   the second one can end. (The paper counts without main: two switches.)
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

// Volatile, so that the compiler does not answer the test from the store before it.
static volatile int flag;
static volatile int x;

__attribute__((noinline)) static void error(void) { abort(); }

static void *first(void *arg) {
  (void)arg;
  flag = 1;
  x = 1;
  if (x == 3) error();
  return NULL;
}

static void *second(void *arg) {
  (void)arg;
  while (!flag) usleep(1);
  x = 3;
  flag = 0;
  return NULL;
}

int main(void) {
  pthread_t t1, t2;
  pthread_create(&t1, NULL, first, NULL);
  pthread_create(&t2, NULL, second, NULL);
  pthread_join(t1, NULL);
  pthread_join(t2, NULL);
  return 0;
}
// cause: x: x = 3; | if (x == 3)
