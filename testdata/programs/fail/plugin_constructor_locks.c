// heddle: A plug-in's constructor, which runs with the loader's lock held, takes the mutex of the registry; another thread holds that mutex while it loads one.
// kind: deadlock
// finding: (mutex lock) wait for one another
// minimum: switches=2 preemptions=1
// why: main creates both threads and waits for them, one of them takes its first lock, the other its own:
//   three intervals. The first is preempted before it takes a lock that is free.
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
  if (!entries) assert(dlopen("libm.so.6", RTLD_NOW)); // a built-in one instead
  entries++;
  pthread_mutex_unlock(&registry);
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
// cause: registry: pthread_mutex_lock(&registry)
