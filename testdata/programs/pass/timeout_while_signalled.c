// heddle: A producer stores its item before it signals; a waiter also checks for it after a time-out.
// kind: clean
// needs: timeouts
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int taken, kept;

static void *producer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  kept = 1;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *consumer(void *arg) {
  struct timespec until;
  (void)arg;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&lock);
  while (!kept && pthread_cond_timedwait(&arrived, &lock, &until) != ETIMEDOUT) ;
  if (kept) {
    kept = 0;
    taken = 1;
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, consumer, NULL);
  pthread_create(&t[1], NULL, producer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(taken + kept == 1);
  return 0;
}
