// heddle: A server blocks its handler's signal except during pselect, so none can arrive between its check of the flag and the wait.
// kind: clean
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
  sigset_t none;
  (void)arg;
  sigemptyset(&none);
  while (!stop) {
    FD_ZERO(&in);
    FD_SET(requests[0], &in);
    pselect(requests[0] + 1, &in, NULL, NULL, NULL, &none);
  }
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_stop};
  sigset_t term;
  pthread_t t;
  assert(pipe(requests) == 0);
  sigaction(SIGTERM, &act, NULL);
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, NULL);
  pthread_create(&t, NULL, server, NULL);
  pthread_kill(t, SIGTERM);
  pthread_join(t, NULL);
  return 0;
}
