// heddle: A child and its parent take turns by signals. The worker blocks them, so that they can only go to main.
// kind: clean
// isolation: fork
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 2 };
static volatile sig_atomic_t turns, sender;

static void on_turn(int sig, siginfo_t *info, void *context) {
  (void)sig;
  (void)context;
  sender = info->si_pid;
  turns++;
}

static void *worker(void *arg) {
  return arg;
}

int main(void) {
  struct sigaction act = {.sa_sigaction = on_turn, .sa_flags = SA_SIGINFO};
  sigset_t turn, none;
  pthread_t t;
  int status;
  sigemptyset(&none);
  sigemptyset(&turn);
  sigaddset(&turn, SIGUSR1);
  sigaction(SIGUSR1, &act, NULL);
  pthread_sigmask(SIG_BLOCK, &turn, NULL);
  pthread_create(&t, NULL, worker, NULL);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    for (int i = 1; i <= TURNS; i++) {
      kill(getppid(), SIGUSR1);
      while (turns < i) sigsuspend(&none);
      assert(sender == parent);
    }
    _exit(0);
  }
  for (int i = 1; i <= TURNS; i++) {
    while (turns < i) sigsuspend(&none);
    assert(sender == pid);
    kill(pid, SIGUSR1);
  }
  pid_t ended = waitpid(pid, &status, 0);
  assert(ended == pid && status == 0);
  pthread_join(t, NULL);
  return 0;
}
