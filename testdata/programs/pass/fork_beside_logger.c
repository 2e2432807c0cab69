// heddle: A process is forked beside a logger. Handlers hold the lock of the log at the fork and release it on both sides.
// kind: clean
// isolation: fork
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void hold(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }

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
  pthread_atfork(hold, release, release);
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
