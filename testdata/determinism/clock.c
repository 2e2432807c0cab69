// heddle: Workers share nothing, but do more the later it is.
//   Fails locally: no pair can be reversed, and a worker's events differ from schedule to schedule.
// kind: clean
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static int count[2];

static void *work(void *arg) {
  int *own = arg;
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  clock_gettime(CLOCK_MONOTONIC, &to);
  for (long i = 0; i < (to.tv_nsec - from.tv_nsec) % 7; i++) *own += 1;
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &count[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
