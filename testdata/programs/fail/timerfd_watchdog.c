// heddle: A watchdog whose timerfd expires looks whether the work is done and calls it expired in two steps, as does the worker the other way round.
// kind: assertion
// finding: == 1
// needs: timeouts
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static atomic_int done, expired;
static int timer;

static void *watchdog(void *arg) {
  uint64_t n;
  if (read(timer, &n, sizeof n) != sizeof n) return arg;
  if (!atomic_load(&done)) atomic_store(&expired, 1);
  return arg;
}

static void *worker(void *arg) {
  if (!atomic_load(&expired)) atomic_store(&done, 1);
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
// cause: expired: if (!atomic_load(&done)) | if (!atomic_load(&expired))
