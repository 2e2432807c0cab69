// heddle: A producer writes to its self-pipe with the lock held; when the pipe is full, the reader that would empty it waits for that lock.
// kind: deadlock
// finding: wake
// minimum: switches=1 preemptions=1
// why: The producer must reach its second write, with the lock held, before main locks: main
//   is left before it locks, and waits when the producer does.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wakeups[2], sent;

__attribute__((noinline)) static void wake(void) {
  static const char page[4096];
  ssize_t n = write(wakeups[1], page, sizeof page);
  assert(n == sizeof page);
}

static void *producer(void *arg) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&lock);
    sent++;
    wake();
    pthread_mutex_unlock(&lock);
  }
  return arg;
}

int main(void) {
  pthread_t t;
  char page[4096];
  assert(pipe(wakeups) == 0);
  assert(fcntl(wakeups[1], F_SETPIPE_SZ, 4096) == 4096);
  pthread_create(&t, NULL, producer, NULL);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&lock);
    int news = sent;
    pthread_mutex_unlock(&lock);
    assert(news <= 2);
    ssize_t n = read(wakeups[0], page, sizeof page);
    assert(n == sizeof page);
  }
  pthread_join(t, NULL);
  return 0;
}
// cause: : write(wakeups[1] | pthread_mutex_lock(&lock)
