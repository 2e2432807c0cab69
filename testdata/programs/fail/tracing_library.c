// heddle: Workers log to a tracing library while main lists its threads; registering a thread and listing take the library's two locks in different orders.
// kind: deadlock
// finding: trace_
// minimum: switches=2 preemptions=2
// why: A worker must hold the lock of the threads and want that of the modules, while main holds that and wants the first:
//   main creates the worker, the worker runs to there, and main runs to its second lock. Nothing else blocks either.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define WORKERS 3
#define CALLS 12
#define MODULES 2

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry {
  int used, level;
} threads[WORKERS];

static struct module {
  int on, entries;
} modules[MODULES];

static char lines[4096];
static unsigned long written;

__attribute__((noinline)) static void trace_line(char what) {
  pthread_mutex_lock(&log_lock);
  if (written < sizeof lines) lines[written++] = what;
  pthread_mutex_unlock(&log_lock);
}

__attribute__((noinline)) static void trace_register(int id) {
  pthread_mutex_lock(&threads_lock);
  threads[id].used = 1;
  pthread_mutex_lock(&modules_lock);
  modules[id % MODULES].entries++;
  pthread_mutex_unlock(&modules_lock);
  pthread_mutex_unlock(&threads_lock);
}

__attribute__((noinline)) static void trace_enter(int id) {
  pthread_mutex_lock(&modules_lock);
  int on = modules[id % MODULES].on;
  pthread_mutex_unlock(&modules_lock);
  if (on) trace_line('a' + (char)id);
}

__attribute__((noinline)) static int trace_list(void) {
  int n = 0;
  pthread_mutex_lock(&modules_lock);
  for (int m = 0; m < MODULES; m++) n += modules[m].entries;
  pthread_mutex_lock(&threads_lock);
  for (int i = 0; i < WORKERS; i++) n += threads[i].used;
  pthread_mutex_unlock(&threads_lock);
  pthread_mutex_unlock(&modules_lock);
  return n;
}

static void *work(void *arg) {
  int id = *(int *)arg;
  for (int i = 0; i < CALLS / 2; i++) trace_enter(id);
  trace_register(id);
  for (int i = 0; i < CALLS; i++) trace_enter(id);
  return NULL;
}

int main(void) {
  pthread_t t[WORKERS];
  static int ids[WORKERS];
  for (int m = 0; m < MODULES; m++) modules[m].on = 1;
  for (int i = 0; i < WORKERS; i++) {
    ids[i] = i;
    pthread_create(&t[i], NULL, work, &ids[i]);
  }
  for (int i = 0; i < CALLS; i++) trace_enter(0);
  int seen = trace_list();
  assert(seen <= 2 * WORKERS);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  assert(strlen(lines) <= sizeof lines);
  return 0;
}
// cause: : pthread_mutex_lock(&modules_lock) | pthread_mutex_lock(&threads_lock)
