// Two threads work on two stores, which are libraries of the same name, and on two lists. The
// first argument says what is not locked: one, two, safe or fast. That one loses something,
// and its assertion fails. With another argument all are locked.
#include <assert.h>
#include <pthread.h>
#include <string.h>

void one_open(void (*enter)(void), void (*leave)(void));
void one_put(long);
long one_stock(void);
void two_open(void (*enter)(void), void (*leave)(void));
void two_put(long);
long two_stock(void);
void safe_push(long);
long safe_length(void);
void fast_push(long);
long fast_length(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void locked(void) { pthread_mutex_lock(&lock); }
static void unlocked(void) { pthread_mutex_unlock(&lock); }
static void nothing(void) {}

static const char *without;

static void open_store(const char *name, void (*open)(void (*)(void), void (*)(void))) {
  if (strcmp(without, name) == 0) open(nothing, nothing);
  else open(locked, unlocked);
}

static void push(const char *name, void (*to)(long)) {
  int lone = strcmp(without, name) == 0;
  if (!lone) locked();
  to(1);
  if (!lone) unlocked();
}

static void *worker(void *arg) {
  one_put(1);
  two_put(1);
  push("safe", safe_push);
  push("fast", fast_push);
  return arg;
}

int main(int argc, char **argv) {
  without = argc > 1 ? argv[1] : "";
  open_store("one", one_open);
  open_store("two", two_open);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(one_stock() == 2);
  assert(two_stock() == 2);
  assert(safe_length() == 2);
  assert(fast_length() == 2);
  return 0;
}
