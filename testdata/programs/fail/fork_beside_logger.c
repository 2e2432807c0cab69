// heddle: A process is forked while a logger may hold the lock of the log. The child logs, too, and waits for a lock whose holder it does not have.
// kind: deadlock
// finding: note
// minimum: switches=2 preemptions=2
// why: main creates the logger, which is left holding the lock, and main forks: three intervals. The logger could go on
//   with its unlock, and main with its fork.
// isolation: fork
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void note(void) {
  pthread_mutex_lock(&lock);
  lines++;
  pthread_mutex_unlock(&lock);
}

static void *logger(void *arg) {
  note();
  return arg;
}

int main(void) {
  pthread_t t;
  int status;
  pthread_create(&t, NULL, logger, NULL);
  pid_t pid = fork();
  if (pid == 0) {
    note();
    _exit(0);
  }
  waitpid(pid, &status, 0);
  pthread_join(t, NULL);
  return status != 0;
}
// cause: : pid_t pid = fork();
