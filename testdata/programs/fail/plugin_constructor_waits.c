// heddle: A plug-in's constructor waits until the worker is idle; the worker loads a library for its job, and for that needs the loader's lock, which the constructor's thread has.
// kind: deadlock
// finding: wait_until_idle
// minimum: switches=2 preemptions=1
// why: The worker must be busy before the constructor looks, and main must have begun to load before the
//   worker does: main creates it and begins, it becomes busy, main continues and waits: three intervals.
//   main is left before a lock that is free; the worker waits for main.
// plug-in: plugin_constructor_waits.so
// flags: -rdynamic
#include <pthread.h>

void wait_until_idle(void);

#ifdef PLUGIN
__attribute__((constructor)) static void begin(void) { wait_until_idle(); }
#else
#include <assert.h>
#include <dlfcn.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int busy;

static void set_busy(int value) {
  pthread_mutex_lock(&mutex);
  busy = value;
  if (!busy) pthread_cond_signal(&idle);
  pthread_mutex_unlock(&mutex);
}

void wait_until_idle(void) {
  pthread_mutex_lock(&mutex);
  while (busy) pthread_cond_wait(&idle, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void *worker(void *arg) {
  set_busy(1);
  assert(dlopen("libm.so.6", RTLD_NOW));
  set_busy(0);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, worker, NULL);
  assert(dlopen("./plugin_constructor_waits.so", RTLD_NOW));
  pthread_join(t, NULL);
  return 0;
}
#endif
// cause: busy: busy = value | while (busy)
