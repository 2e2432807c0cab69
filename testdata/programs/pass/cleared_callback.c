// heddle: A notifier reads the callback once, atomically, and calls it unless it is null, so unsubscribing at any time is safe.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int notified;
static void count(void) { notified++; }
static void (*_Atomic callback)(void) = count;

static void *notify(void *arg) {
  (void)arg;
  void (*f)(void) = callback;
  if (f) f();
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, notify, NULL);
  callback = NULL;
  pthread_join(t, NULL);
  return 0;
}
