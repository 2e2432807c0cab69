// heddle: A signal handler and the code it interrupts add to one counter that is not atomic; what the handler added between main's read and its write is lost.
// kind: assertion
// finding: total ==
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
  memset(&never, 0, sizeof never);
  sigaction(SIGALRM, &act, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (int i = 0; i < 3; i++) total++;
  setitimer(ITIMER_REAL, &never, NULL);
  assert(total == 3 + ticks);
  return 0;
}
// cause: total: total++
