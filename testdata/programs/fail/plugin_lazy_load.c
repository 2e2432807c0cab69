// heddle: Two threads load a plug-in at its first use; whoever sees the handle takes the function for known as well.
// kind: signal
// finding: SIGSEGV
// minimum: switches=2 preemptions=1
// why: main creates both threads, one of them stores the handle and is left before it stores the
//   function, the other sees the handle and calls a null pointer: three intervals. The thread that
//   is left holds the mutex, waits for nothing, and could store.
// plug-in: plugin_lazy_load.so
#ifdef PLUGIN
int twice(int n) { return 2 * n; }
#else
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *volatile handle;
static int (*volatile twice)(int);

static int call(int n) {
  if (!handle) {
    pthread_mutex_lock(&mutex);
    if (!handle) {
      handle = dlopen("./plugin_lazy_load.so", RTLD_LAZY);
      twice = (int (*)(int))dlsym(handle, "twice");
    }
    pthread_mutex_unlock(&mutex);
  }
  return twice(n);
}

static void *worker(void *arg) {
  int n = (int)(intptr_t)arg;
  assert(call(n) == n + n);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, (void *)(i + 3));
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
#endif
// cause: twice: twice = (int (*)(int))dlsym | return twice(n)
