// heddle: A notifier looks whether there is a callback and calls it, in two reads; unsubscribing in between makes it call a null pointer.
// kind: signal
// finding: notify
// minimum: switches=3 preemptions=2
// why: Main takes the callback away between the notifier's look and its call: main up to there,
//   the notifier, main, the notifier. Main is left before it takes the callback away, and the
//   notifier before it calls; main then waits for the notifier.
#include <pthread.h>
#include <stddef.h>

static int notified;
static void count(void) { notified++; }
static void (*volatile callback)(void) = count;

static void *notify(void *arg) {
  (void)arg;
  if (callback) callback();
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, notify, NULL);
  callback = NULL;
  pthread_join(t, NULL);
  return 0;
}
// cause: callback: if (callback) callback() | callback = NULL
