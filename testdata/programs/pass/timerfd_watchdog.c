// heddle: A watchdog and a worker decide under a lock which of them was first.
// kind: clean
// needs: timeouts
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done, expired;
static int timer;

static void *watchdog(void *arg) {
  uint64_t n;
  if (read(timer, &n, sizeof n) != sizeof n) return arg;
  pthread_mutex_lock(&lock);
  if (!atomic_load(&done)) atomic_store(&expired, 1);
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *worker(void *arg) {
  pthread_mutex_lock(&lock);
  if (!atomic_load(&expired)) atomic_store(&done, 1);
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t d, w;
  struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  assert(timerfd_settime(timer, 0, &soon, NULL) == 0);
  pthread_create(&d, NULL, watchdog, NULL);
  pthread_create(&w, NULL, worker, NULL);
  pthread_join(w, NULL);
  pthread_join(d, NULL);
  assert(atomic_load(&done) + atomic_load(&expired) == 1);
  return 0;
}
