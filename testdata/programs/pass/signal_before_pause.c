// heddle: A thread blocks the signal while it checks for a stop request, and unblocks it only while it waits.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t told;

static void on_stop(int sig) {
  (void)sig;
  told = 1;
}

static void *stopper(void *arg) {
  pthread_kill(*(pthread_t *)arg, SIGUSR1);
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_stop};
  pthread_t self = pthread_self(), t;
  sigset_t stop, before;
  sigaction(SIGUSR1, &act, NULL);
  sigemptyset(&stop);
  sigaddset(&stop, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  pthread_create(&t, NULL, stopper, &self);
  while (!told) sigsuspend(&before);
  pthread_join(t, NULL);
  assert(told);
  return 0;
}
