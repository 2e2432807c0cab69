// heddle: A reader takes every failure of read for the end of its input. A signal that comes while it waits ends the read with EINTR, and the last order is never done.
// kind: assertion
// finding: done == 2
// minimum: switches=4 preemptions=1
// why: The handler of a signal that is sent while the reader is not in a read runs before its next
//   read returns, which then does not fail. So the reader waits in a read when the signal is
//   sent: it must run before that, which is a preemption of main, and main again, for it waits.
//   It must run again to be interrupted, and main to assert.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int orders[2];
static int done;

static void on_tick(int sig) { (void)sig; }

static void *reader(void *arg) {
  char order;
  (void)arg;
  while (read(orders[0], &order, 1) > 0) done++;
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_tick};
  pthread_t t;
  sigaction(SIGUSR1, &act, NULL);
  assert(pipe(orders) == 0);
  pthread_create(&t, NULL, reader, NULL);
  assert(write(orders[1], "a", 1) == 1);
  pthread_kill(t, SIGUSR1);
  assert(write(orders[1], "b", 1) == 1);
  close(orders[1]);
  pthread_join(t, NULL);
  assert(done == 2);
  return 0;
}
// cause: : read(orders[0] | pthread_kill(t, SIGUSR1)
