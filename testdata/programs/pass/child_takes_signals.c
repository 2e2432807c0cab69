// heddle: A child that is forked beside a thread has the program's handlers and mask: a signal that its parent sends at once waits for sigsuspend.
// kind: clean
// isolation: fork
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told, asked;

static void on_told(int sig) { told = sig; }
static void on_asked(int sig) { asked = sig; }

static void *worker(void *arg) {
  return arg;
}

static void child(pid_t parent, const sigset_t *none) {
  struct sigaction act = {.sa_handler = on_asked};
  assert(getppid() == parent);
  while (!told) sigsuspend(none);
  assert(told == SIGUSR1);
  sigaction(SIGUSR2, &act, NULL);
  kill(getpid(), SIGUSR2);
  assert(!asked); // blocked since before the fork
  pthread_sigmask(SIG_SETMASK, none, NULL);
  assert(asked == SIGUSR2);
  raise(SIGHUP); // ignored since before the fork
}

int main(void) {
  struct sigaction act = {.sa_handler = on_told}, ignore = {.sa_handler = SIG_IGN};
  sigset_t both, none;
  pthread_t t;
  int status;
  sigemptyset(&none);
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  sigaction(SIGUSR1, &act, NULL);
  sigaction(SIGHUP, &ignore, NULL);
  pthread_sigmask(SIG_BLOCK, &both, NULL);
  pthread_create(&t, NULL, worker, NULL);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    child(parent, &none);
    _exit(0);
  }
  kill(pid, SIGUSR1);
  pid_t ended = waitpid(pid, &status, 0);
  assert(ended == pid && status == 0);
  pthread_join(t, NULL);
  return 0;
}
