// heddle: The program fails if the relaxed store of `open` comes before its relaxed load, which orders nothing; the race of `calls` turns whenever that order turns, and is not the cause.
// kind: assertion
// finding: sent == 1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int open = 1;
static int calls, sent;

static void *sender(void *arg) {
  sent = atomic_load_explicit(&open, memory_order_relaxed);
  calls = 1;
  return arg;
}

static void *closer(void *arg) {
  calls = 2;
  atomic_store_explicit(&open, 0, memory_order_relaxed);
  return arg;
}

int main(void) {
  pthread_t s, c;
  pthread_create(&s, NULL, sender, NULL);
  pthread_create(&c, NULL, closer, NULL);
  pthread_join(s, NULL);
  pthread_join(c, NULL);
  assert(sent == 1);
  return 0;
}
