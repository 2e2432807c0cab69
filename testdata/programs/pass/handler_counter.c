// heddle: A signal handler and the code it interrupts add to one counter; main blocks the signal while it does.
// kind: clean
// needs: timeouts
#include <assert.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile int total;
static volatile sig_atomic_t ticks;

static void on_tick(int sig) {
  (void)sig;
  ticks++;
  total++;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_tick};
  struct itimerval soon = {{0, 0}, {0, 1000}}, never;
  sigset_t tick, before;
  memset(&never, 0, sizeof never);
  sigemptyset(&tick);
  sigaddset(&tick, SIGALRM);
  sigaction(SIGALRM, &act, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (int i = 0; i < 3; i++) {
    sigprocmask(SIG_BLOCK, &tick, &before);
    total++;
    sigprocmask(SIG_SETMASK, &before, NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  sigprocmask(SIG_BLOCK, &tick, NULL);
  assert(total == 3 + ticks);
  return 0;
}
