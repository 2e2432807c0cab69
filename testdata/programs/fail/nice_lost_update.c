// heddle: Two workers make main nicer by one each; reading main's nice value and setting it are two critical sections, so one step is lost.
// kind: assertion
// finding: getpriority(PRIO_PROCESS, getpid()) == was + 2
// minimum: switches=4 preemptions=1
// why: Both workers must read before either of them sets, and main checks at the end, when both have ended: main, worker,
//   worker, worker, main. A worker that is left between its critical sections waits for nothing, since the lock is free.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int value_of_main(void) {
  pthread_mutex_lock(&lock); // to read
  int value = getpriority(PRIO_PROCESS, (id_t)getpid());
  pthread_mutex_unlock(&lock);
  return value;
}

static void set_value_of_main(int value) {
  pthread_mutex_lock(&lock); // to set
  int failed = setpriority(PRIO_PROCESS, (id_t)getpid(), value);
  pthread_mutex_unlock(&lock);
  assert(!failed);
}

static void *worker(void *arg) {
  int own = getpriority(PRIO_PROCESS, 0); // what main had when it created the worker
  set_value_of_main(value_of_main() + 1);
  assert(getpriority(PRIO_PROCESS, (id_t)gettid()) == own); // each thread has its own
  return arg;
}

int main(void) {
  pthread_t t[2];
  int was = getpriority(PRIO_PROCESS, 0);
  if (was > 17) return 0; // no room for two steps
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(getpriority(PRIO_PROCESS, getpid()) == was + 2);
  return 0;
}
// cause: lock: to read | to set
