// heddle: A request checks its alarm's flag, commits and cancels the alarm with the signal blocked, and discards a pending one.
// kind: clean
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
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigaction(SIGALRM, &act, NULL);
  ualarm(20000, 0);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (!expired) {
    committed = 1;
    ualarm(0, 0);
    signal(SIGALRM, SIG_IGN); // a pending one is dropped
  }
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  assert(!(committed && rolled_back));
  return 0;
}
