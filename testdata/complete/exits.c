// main exits while a thread may run: an execution may end before any of the thread's operations, and
// the thread's lock is found only by asking what it would have done.
#include <pthread.h>
#include <stdlib.h>

#ifndef FAILS
#define FAILS 3 // never; 0, 1 and 2 each fail in some execution
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

static void *add(void *arg) {
  (void)arg;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
  }
  return NULL;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, NULL, add, NULL);
  pthread_mutex_lock(&m);
  if (n == FAILS) abort();
  pthread_mutex_unlock(&m);
  return 0;
}
