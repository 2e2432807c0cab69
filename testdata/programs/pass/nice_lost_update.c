// heddle: Two workers make main nicer by one each, in one critical section, and keep their own nice values.
// kind: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void make_main_nicer(void) {
  pthread_mutex_lock(&lock);
  int value = getpriority(PRIO_PROCESS, (id_t)getpid());
  int failed = setpriority(PRIO_PROCESS, (id_t)getpid(), value + 1);
  pthread_mutex_unlock(&lock);
  assert(!failed);
}

static void *worker(void *arg) {
  int own = getpriority(PRIO_PROCESS, 0); // what main had when it created the worker
  make_main_nicer();
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
