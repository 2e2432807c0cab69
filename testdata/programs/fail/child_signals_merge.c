// heddle: A handler waits for one child each time that SIGCHLD comes. When both children end before it runs, the signal comes once, and one child is never waited for.
// kind: deadlock
// finding: main
// isolation: fork
#include <assert.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t left = 2;

static void on_child(int sig) {
  (void)sig;
  if (waitpid(-1, NULL, WNOHANG) > 0) left--;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_child};
  sigset_t child, none;
  sigemptyset(&none);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigaction(SIGCHLD, &act, NULL);
  sigprocmask(SIG_BLOCK, &child, NULL);
  for (int i = 0; i < 2; i++) {
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
      if (i) usleep(2000);
      _exit(0);
    }
  }
  while (left) sigsuspend(&none);
  return 0;
}
// cause: left: waitpid(-1, NULL, WNOHANG)
