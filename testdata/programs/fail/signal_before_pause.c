// heddle: A thread checks for a stop request and then pauses; a signal in between is handled before the pause begins, and nothing ends the pause.
// kind: deadlock
// finding: main
// minimum: switches=2 preemptions=1
// why: main must be left once, for the thread that sends the signal, and it is left while it can run, since the
//   signal must be delivered after main has looked at the flag and before its sigsuspend begins.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

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
  sigaction(SIGUSR1, &act, NULL);
  pthread_create(&t, NULL, stopper, &self);
  if (!told) pause();
  pthread_join(t, NULL);
  return 0;
}
// cause: told: if (!told) pause() | told = 1
