// heddle: Two threads load a plug-in at its first use; its function, stored last and atomically, tells that it is there.
// kind: clean
// plug-in: plugin_lazy_load.so
#ifdef PLUGIN
int twice(int n) { return 2 * n; }
#else
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int (*_Atomic twice)(int);

static int call(int n) {
  int (*f)(int) = atomic_load_explicit(&twice, memory_order_acquire);
  if (!f) {
    pthread_mutex_lock(&mutex);
    f = atomic_load_explicit(&twice, memory_order_relaxed);
    if (!f) {
      void *handle = dlopen("./plugin_lazy_load.so", RTLD_LAZY);
      f = (int (*)(int))dlsym(handle, "twice");
      atomic_store_explicit(&twice, f, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
  }
  return f(n);
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
