// Threads publish a value in two critical sections of different locks, and the last thread reads it
// in two. With SEEDED, nothing keeps the sections together. THREADS is the number of threads that
// publish.
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 10
#endif

static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int source, derived;

static void enter(void) {
#ifndef SEEDED
  pthread_mutex_lock(&whole);
#endif
}

static void leave(void) {
#ifndef SEEDED
  pthread_mutex_unlock(&whole);
#endif
}

static void *publisher(void *arg) {
  (void)arg;
  enter();
  pthread_mutex_lock(&first);
  source = 1;
  pthread_mutex_unlock(&first);
  pthread_mutex_lock(&second);
  derived = source + 1;
  pthread_mutex_unlock(&second);
  leave();
  return NULL;
}

static void *consumer(void *arg) {
  (void)arg;
  enter();
  pthread_mutex_lock(&first);
  int s = source;
  pthread_mutex_unlock(&first);
  if (s != 0) {
    pthread_mutex_lock(&second);
    int d = derived;
    pthread_mutex_unlock(&second);
    assert(d == s + 1);
  }
  leave();
  return NULL;
}

int main(void) {
  static pthread_t publishers[THREADS];
  pthread_t c;
  (void)whole;
  for (int i = 0; i < THREADS; i++) pthread_create(&publishers[i], NULL, publisher, NULL);
  pthread_create(&c, NULL, consumer, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(publishers[i], NULL);
  pthread_join(c, NULL);
  return 0;
}
