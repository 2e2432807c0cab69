// heddle: A producer that sees a waiter hands its item over with a signal; a waiter whose time runs out while the producer holds the lock no longer waits, and leaves without the item.
// kind: assertion
// finding: taken + kept
// needs: timeouts
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int waiters, taken, kept;

static void *producer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  if (waiters) pthread_cond_signal(&arrived); // the waiter counts it
  else kept = 1;
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
  if (kept) {
    kept = 0;
    taken = 1;
  } else {
    waiters++;
    if (pthread_cond_timedwait(&arrived, &lock, &until) == 0) taken = 1;
    waiters--;
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
// cause: waiters: pthread_cond_signal(&arrived)
