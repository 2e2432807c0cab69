// heddle: A thread for each of 5,000 requests, eight at a time, joined; the last two add to the total without the lock.
// kind: assertion
// simplified: partly
#include <assert.h>
#include <pthread.h>
#ifndef TASKS
#define TASKS 5000
#endif
enum { AT_ONCE = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *serve(void *arg) {
  long n = (long)arg;
  if (n < TASKS - 2) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
  } else {
    int seen = total;
    total = seen + 1;
  }
  return NULL;
}

int main(void) {
  pthread_t worker[AT_ONCE];
  for (long n = 0; n < TASKS; n += AT_ONCE) {
    for (int i = 0; i < AT_ONCE; i++) pthread_create(&worker[i], NULL, serve, (void *)(n + i));
    for (int i = 0; i < AT_ONCE; i++) pthread_join(worker[i], NULL);
  }
  assert(total == TASKS);
  return 0;
}
// cause: total: seen = total | total = seen + 1
