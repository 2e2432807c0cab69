// heddle: two workers lose an update of a counter, which is asserted before two others take two
//   locks in opposite orders: an execution that loses the update never gets to the deadlock.
// kind: assertion | deadlock
// finding: main
// minimum: switches=4 preemptions=1
// why: the assertion: main starts both workers and joins; one is preempted between its read and its
//   write, the other runs, the first goes on, and main asserts. The deadlock: five switches, one
//   preemption: main joins, a worker runs, main joins, the other runs; then first (preempted with
//   its first lock held), second, and both are stuck.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static long counter;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
  long seen = counter;
  counter = seen + 1;
  return arg;
}

static void *first(void *arg) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return arg;
}

static void *second(void *arg) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return arg;
}

static void both(void *(*one)(void *), void *(*two)(void *)) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, one, NULL);
  pthread_create(&t[1], NULL, two, NULL);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
}

int main(void) {
  both(add, add);
  assert(counter == 2);
  both(first, second);
  return 0;
}
