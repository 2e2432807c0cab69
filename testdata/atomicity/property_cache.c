// heddle: A script engine empties its property cache unless the flag says that it is empty; a fill between the emptying and the setting of the flag leaves an entry that no later flush removes.
// kind: assertion
// finding: stale
// args: 0
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include "work.h"

enum { ENTRIES = 16, SCRIPTS = 4 };

static struct {
  pthread_mutex_t lock;
  int empty;
  int value[ENTRIES];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .empty = 1};

static long work;

static void enter(void) {
#ifdef CORRECT
  pthread_mutex_lock(&cache.lock);
#endif
}

static void leave(void) {
#ifdef CORRECT
  pthread_mutex_unlock(&cache.lock);
#endif
}

static void fill(int entry, int value) {
  enter();
  cache.value[entry] = value;
  cache.empty = 0;
  leave();
}

static void flush(void) {
  enter();
  if (!cache.empty) {
    memset(cache.value, 0, sizeof cache.value);
    cache.empty = 1;
  }
  leave();
}

static void *script(void *arg) {
  unsigned state = 3;
  for (int i = 0; i < SCRIPTS; i++) {
    state = computed(state, 3 * work);
    fill((int)(state >> 8) % ENTRIES, i + 1);
  }
  return arg ? arg : (void *)(long)(state & 1);
}

static void *collector(void *arg) {
  unsigned state = 5;
  for (int i = 0; i < SCRIPTS; i++) {
    state = computed(state, work);
    flush();
  }
  return arg ? arg : (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[2];
  work = work_of(argc, argv);
  pthread_create(&t[0], NULL, script, NULL);
  pthread_create(&t[1], NULL, collector, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  flush();
  for (int i = 0; i < ENTRIES; i++) assert(cache.value[i] == 0 && "stale");
  return 0;
}
