// heddle: A consumer enables the next notification of its eventfd after it has checked for work, not before: work posted in between is never signalled.
// kind: deadlock
// finding: serve
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

static atomic_int posted, handled, told;
static int notice;

static void *producer(void *arg) {
  for (int i = 0; i < 2; i++) {
    atomic_fetch_add(&posted, 1);
    if (!atomic_exchange(&told, 1)) eventfd_write(notice, 1);
  }
  return arg;
}

__attribute__((noinline)) static void serve(void) {
  while (atomic_load(&handled) < 2) {
    eventfd_t n;
    eventfd_read(notice, &n);
    while (atomic_load(&handled) < atomic_load(&posted)) atomic_fetch_add(&handled, 1);
    atomic_store(&told, 0);
  }
}

int main(void) {
  pthread_t t;
  notice = eventfd(0, 0);
  pthread_create(&t, NULL, producer, NULL);
  serve();
  pthread_join(t, NULL);
  return 0;
}
// cause: told: atomic_exchange(&told, 1) | atomic_store(&told, 0)
