// heddle: A child sends its parent a signal, which the worker may take as well as main.
// kind: assertion
// finding: done == SIGUSR1
// isolation: fork
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread int done;

static void on_done(int sig) { done = sig; }

static void *worker(void *arg) {
  return arg;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_done};
  pthread_t t;
  int status;
  sigaction(SIGUSR1, &act, NULL);
  pthread_create(&t, NULL, worker, NULL);
  pid_t pid = fork();
  if (pid == 0) {
    kill(getppid(), SIGUSR1);
    _exit(0);
  }
  while (waitpid(pid, &status, 0) < 0) assert(errno == EINTR);
  assert(done == SIGUSR1);
  pthread_join(t, NULL);
  return 0;
}
// cause: done: kill(getppid(), SIGUSR1)
