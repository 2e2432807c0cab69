// Programs whose behaviours are known, one for each argument.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int state;
static int loops;
static atomic_int x, y;
static union { uint64_t whole; uint16_t parts[4]; } word;

// wakes, waits: owner and courier can each wake the customer. Only if the courier does, and before the owner begins, does
// the owner have the last word. A customer that looks again waits for the owner.
static void *customer(void *arg) {
  pthread_mutex_lock(&lock);
  if (!state) {
    do pthread_cond_wait(&change, &lock); while (loops && !state);
  }
  state = 2;
  pthread_mutex_unlock(&lock);
  return arg;
}
static void *owner(void *arg) {
  pthread_mutex_lock(&lock);
  state = 1;
  pthread_cond_signal(&change);
  pthread_mutex_unlock(&lock);
  return arg;
}
static void *courier(void *arg) {
  pthread_cond_signal(&change);
  return arg;
}

// exit: a thread starts and joins another one while a third ends the process.
static void *load(void *arg) {
  atomic_load(&x);
  return arg;
}
static void *parent(void *arg) {
  pthread_t t;
  pthread_create(&t, NULL, load, NULL);
  pthread_join(t, NULL);
  return arg;
}
static void *leaver(void *arg) {
  (void)arg;
  exit(0);
}

// leave: store buffering, after main has left.
static void *first(void *arg) {
  atomic_store(&x, 1);
  atomic_load(&y);
  return arg;
}
static void *second(void *arg) {
  atomic_store(&y, 1);
  atomic_load(&x);
  return arg;
}

// sizes: a part of a word is stored while the word is exchanged and loaded.
static void *part(void *arg) {
  __atomic_store_n(&word.parts[3], 7, __ATOMIC_SEQ_CST);
  return arg;
}
static void *whole(void *arg) {
  __atomic_exchange_n(&word.whole, 1, __ATOMIC_SEQ_CST);
  __atomic_load_n(&word.whole, __ATOMIC_SEQ_CST);
  return arg;
}

// relaxed: four lines with orders weaker than seq_cst, one of them of a failure, and one compare-exchange that
// may fail spuriously. strict: none.
static void *publish(void *arg) {
  atomic_store_explicit(&x, 1, memory_order_release);
  int zero = 0;
  atomic_compare_exchange_strong_explicit(&y, &zero, 1, memory_order_seq_cst, memory_order_relaxed);
  return arg;
}
static void *consume(void *arg) {
  atomic_load_explicit(&x, memory_order_acquire);
  int zero = 0;
  atomic_compare_exchange_weak(&y, &zero, 2);
  atomic_thread_fence(memory_order_release);
  return arg;
}

int main(int argc, char **argv) {
  assert(argc == 2);
  struct { const char *name; void *(*run[3])(void *); } programs[] = {
    { "wakes", { customer, owner, courier } }, { "waits", { customer, owner, courier } }, { "exit", { parent, leaver } },
    { "leave", { first, second } }, { "strict", { first, second } }, { "sizes", { part, whole } }, { "relaxed", { publish, consume } },
  };
  loops = !strcmp(argv[1], "waits");
  for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
    if (strcmp(argv[1], programs[i].name)) continue;
    pthread_t t[3];
    int n = 0;
    for (; n < 3 && programs[i].run[n]; n++) pthread_create(&t[n], NULL, programs[i].run[n], NULL);
    if (!strcmp(argv[1], "leave")) pthread_exit(NULL);
    while (n > 0) pthread_join(t[--n], NULL);
    if (!strcmp(argv[1], "wakes") || loops) assert(state == 2);
  }
  return 0;
}
