// heddle: A reader reads again when a signal handler has interrupted it, and continues until the end of its input.
// kind: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int orders[2];
static int done;

static void on_tick(int sig) { (void)sig; }

static void *reader(void *arg) {
  char order;
  ssize_t n;
  (void)arg;
  while ((n = read(orders[0], &order, 1)) > 0 || (n < 0 && errno == EINTR)) done += n > 0;
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
