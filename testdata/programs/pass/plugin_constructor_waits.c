// heddle: main waits until the worker is idle, and then loads a plug-in; the worker loads a library for its job meanwhile.
// kind: clean
// plug-in: plugin_constructor_waits.so
// flags: -rdynamic
#include <pthread.h>

void enrol(void);

#ifdef PLUGIN
__attribute__((constructor)) static void begin(void) { enrol(); }
#else
#include <assert.h>
#include <dlfcn.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int busy, plugins;

static void set_busy(int value) {
  pthread_mutex_lock(&mutex);
  busy = value;
  if (!busy) pthread_cond_signal(&idle);
  pthread_mutex_unlock(&mutex);
}

void enrol(void) {
  pthread_mutex_lock(&mutex);
  plugins++;
  pthread_mutex_unlock(&mutex);
}

static void wait_until_idle(void) {
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
  wait_until_idle();
  assert(dlopen("./plugin_constructor_waits.so", RTLD_NOW));
  pthread_join(t, NULL);
  assert(plugins == 1);
  return 0;
}
#endif
