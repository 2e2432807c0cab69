// heddle: A plug-in's constructor takes the mutex of the registry; another thread releases that mutex while it loads a plug-in.
// kind: clean
// plug-in: plugin_constructor_locks.so
// flags: -rdynamic
#include <pthread.h>

void registry_add(int n);

#ifdef PLUGIN
__attribute__((constructor)) static void enrol(void) { registry_add(1); }
#else
#include <assert.h>
#include <dlfcn.h>

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static int entries;

void registry_add(int n) {
  pthread_mutex_lock(&registry);
  entries += n;
  pthread_mutex_unlock(&registry);
}

static void load(void) { assert(dlopen("./plugin_constructor_locks.so", RTLD_NOW)); }

static void *loader(void *arg) {
  load();
  return arg;
}

static void *worker(void *arg) {
  pthread_mutex_lock(&registry);
  int none = !entries;
  pthread_mutex_unlock(&registry);
  if (none) assert(dlopen("libm.so.6", RTLD_NOW)); // a built-in one instead
  registry_add(1);
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, loader, NULL);
  pthread_create(&t[1], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(entries == 2);
  return 0;
}
#endif
