// heddle: A reader of a versioned pair gives up after two changed versions and uses the pair it has read, which can be half old and half new.
// kind: assertion
// finding: debit + credit == 0
// minimum: switches=5 preemptions=3
// why: An attempt fails only if the version changes between its first and its last load, so each
//   of the two is interrupted by the writer: reader, writer, reader, writer, reader, with main
//   before them. The reader never blocks and is left in the middle of both attempts: two
//   preemptions. The writer never blocks either and has its second change still to make when it
//   is left for the first time: the third. After that it can run to its end. Fewer will not do
//   at any number of switches.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define ATTEMPTS 2

static _Atomic unsigned version;  // odd while the writer is at work
static _Atomic int debits, credits;

static void *writer(void *arg) {
  (void)arg;
  for (int amount = 100; amount <= 200; amount += 100) {
    atomic_fetch_add(&version, 1);
    atomic_store(&debits, -amount);
    atomic_store(&credits, amount);
    atomic_fetch_add(&version, 1);
  }
  return NULL;
}

static void *reader(void *arg) {
  int debit = 0, credit = 0;
  (void)arg;
  for (int i = 0; i < ATTEMPTS; i++) {
    unsigned before;
    while ((before = atomic_load(&version)) % 2 != 0) sched_yield();
    debit = atomic_load(&debits);
    credit = atomic_load(&credits);
    if (atomic_load(&version) == before) break;
  }
  assert(debit + credit == 0);
  return NULL;
}

int main(void) {
  pthread_t w, r;
  pthread_create(&w, NULL, writer, NULL);
  pthread_create(&r, NULL, reader, NULL);
  pthread_join(w, NULL);
  pthread_join(r, NULL);
  return 0;
}
// cause: version: atomic_load(&version)
