// Threads write two variables, one after the other, and the last thread reads both. With SEEDED, they
// do so without the lock. THREADS is the number of threads that write.
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 10
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int debit, credit;

static void enter(void) {
#ifndef SEEDED
  pthread_mutex_lock(&lock);
#endif
}

static void leave(void) {
#ifndef SEEDED
  pthread_mutex_unlock(&lock);
#endif
}

static void *writer(void *arg) {
  (void)arg;
  enter();
  debit = 1;
  credit = -1;
  leave();
  return NULL;
}

static void *reader(void *arg) {
  (void)arg;
  enter();
  int d = debit;
  int c = credit;
  leave();
  assert(d + c == 0);
  return NULL;
}

int main(void) {
  static pthread_t writers[THREADS];
  pthread_t r;
  (void)lock;
  for (int i = 0; i < THREADS; i++) pthread_create(&writers[i], NULL, writer, NULL);
  pthread_create(&r, NULL, reader, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(writers[i], NULL);
  pthread_join(r, NULL);
  return 0;
}
