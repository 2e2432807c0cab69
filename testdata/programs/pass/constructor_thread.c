// heddle: A library's constructor starts two threads before main, one of them detached, that wait for the settings that main makes.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct settings { int limit; };
static struct settings *volatile settings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static pthread_t server, helper;
static int served;

static void *serve(void *arg) {
  pthread_mutex_lock(&lock);
  while (!settings) pthread_cond_wait(&made, &lock);
  served += settings->limit;
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *more(void *arg) { // a thread of a thread that began with main
  pthread_t t;
  pthread_create(&t, NULL, serve, arg);
  pthread_join(t, NULL);
  return arg;
}

__attribute__((constructor)) static void begin(void) {
  pthread_create(&server, NULL, serve, &served);
  pthread_create(&helper, NULL, more, NULL);
  assert(pthread_detach(helper) == 0);
  assert(!pthread_equal(server, helper) && !pthread_equal(server, pthread_self()));
}

int main(void) {
  static struct settings own = {.limit = 10};
  pthread_mutex_lock(&lock);
  settings = &own;
  pthread_cond_broadcast(&made);
  pthread_mutex_unlock(&lock);
  void *ret = NULL;
  assert(pthread_join(server, &ret) == 0 && ret == &served);
  pthread_mutex_lock(&lock); // the helper's thread may still serve
  assert(served >= 10);
  pthread_mutex_unlock(&lock);
  return 0;
}
