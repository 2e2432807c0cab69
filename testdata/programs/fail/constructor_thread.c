// heddle: A library's constructor starts its thread before main, and the thread reads the settings that main makes, without waiting for them.
// kind: signal
// finding: serve
// minimum: switches=1 preemptions=1
// why: The thread runs before main has made the settings, and main is left there.
#include <pthread.h>
#include <stddef.h>

struct settings { int limit; };
static struct settings *volatile settings;
static pthread_t server;
static int served;

static void *serve(void *arg) {
  (void)arg;
  served = settings->limit;
  return NULL;
}

__attribute__((constructor)) static void begin(void) { pthread_create(&server, NULL, serve, NULL); }

int main(void) {
  static struct settings own = {.limit = 10};
  settings = &own;
  pthread_join(server, NULL);
  return served != 10;
}
// cause: settings: served = settings->limit | settings = &own
