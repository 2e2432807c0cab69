// heddle: A customer whose wait runs out reports a failed payment without looking again; the bank may have charged the card just before.
// kind: assertion
// finding: paid == charged
// needs: timeouts
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int cancelled;
  int charged;
} payment = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int paid;

static void *bank(void *arg) {
  (void)arg;
  pthread_mutex_lock(&payment.lock);
  if (!payment.cancelled) payment.charged = 1;
  pthread_mutex_unlock(&payment.lock);
  pthread_cond_signal(&payment.changed);
  return NULL;
}

static void *customer(void *arg) {
  struct timespec deadline;
  int rc = 0;
  (void)arg;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += 50000000;
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  pthread_mutex_lock(&payment.lock);
  while (!payment.charged && rc != ETIMEDOUT)
    rc = pthread_cond_timedwait(&payment.changed, &payment.lock, &deadline);
  if (rc == ETIMEDOUT)
    payment.cancelled = 1;
  else
    paid = 1;
  pthread_mutex_unlock(&payment.lock);
  return NULL;
}

int main(void) {
  pthread_t c, b;
  pthread_create(&c, NULL, customer, NULL);
  pthread_create(&b, NULL, bank, NULL);
  pthread_join(c, NULL);
  pthread_join(b, NULL);
  int charged = payment.charged;
  assert(paid == charged);
  return 0;
}
// cause: payment: payment.charged = 1
