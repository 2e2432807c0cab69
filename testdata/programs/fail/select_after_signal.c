// heddle: A server checks the flag that its handler sets, and then calls select. A signal between the two does not interrupt the select, and the server waits forever.
// kind: deadlock
// finding: server
// minimum: switches=1 preemptions=0
// why: The server must begin, which takes a switch. The signal can have been sent long before:
//   that the server takes it after its look at the flag is a choice that takes no switch.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <unistd.h>

static int requests[2];
static atomic_int stop;

static void on_stop(int sig) {
  (void)sig;
  stop = 1;
}

static void *server(void *arg) {
  fd_set in;
  (void)arg;
  while (!stop) {
    FD_ZERO(&in);
    FD_SET(requests[0], &in);
    select(requests[0] + 1, &in, NULL, NULL, NULL);
  }
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_stop};
  pthread_t t;
  assert(pipe(requests) == 0);
  sigaction(SIGTERM, &act, NULL);
  pthread_create(&t, NULL, server, NULL);
  pthread_kill(t, SIGTERM);
  pthread_join(t, NULL);
  return 0;
}
// cause: stop: while (!stop) | stop = 1
