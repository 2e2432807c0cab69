// heddle: masked.c with a lock around the counter, and both locks taken in one order.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static long counter;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
  pthread_mutex_lock(&m);
  long seen = counter;
  counter = seen + 1;
  pthread_mutex_unlock(&m);
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
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
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
