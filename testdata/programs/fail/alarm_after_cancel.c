// heddle: A request that came in time is committed and its alarm cancelled; the alarm may go off after the look at its flag, and the request is both committed and rolled back.
// kind: assertion
// finding: committed && rolled_back
// needs: timeouts
#include <assert.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t expired, rolled_back;
static int committed;

static void on_alarm(int sig) {
  (void)sig;
  expired = 1;
  rolled_back = 1;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &act, NULL);
  ualarm(20000, 0);
  if (!expired) {
    committed = 1;
    ualarm(0, 0);
  }
  assert(!(committed && rolled_back));
  return 0;
}
// cause: expired: if (!expired) | expired = 1
