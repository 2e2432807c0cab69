// heddle: main waits for one of two workers and then runs another program in its place, as the other worker says, if it has said so by then.
// kind: exit
// finding: 1
// minimum: switches=2 preemptions=0
// why: main creates both and waits for the second, which runs and ends; main resumes and calls exec
//   before the first worker has said what: three intervals, and every thread was left because it had
//   to wait or had ended.
// isolation: fork
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *code = "exit 1";

static void *choose(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  code = "exit 0";
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *prepare(void *arg) {
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, choose, NULL);
  pthread_create(&b, NULL, prepare, NULL);
  pthread_join(b, NULL);
  pthread_mutex_lock(&lock);
  const char *run = code;
  pthread_mutex_unlock(&lock);
  execl("/bin/sh", "sh", "-c", run, (char *)NULL);
  return 2;
}
// cause: code: code = "exit 0" | run = code
