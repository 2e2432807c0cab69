// heddle: A reader of a versioned pair that met two changed versions stops the writer with its lock and reads then.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define ATTEMPTS 2

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned version;  // odd while the writer is at work
static _Atomic int debits, credits;

static void *writer(void *arg) {
  (void)arg;
  for (int amount = 100; amount <= 200; amount += 100) {
    pthread_mutex_lock(&write_lock);
    atomic_fetch_add(&version, 1);
    atomic_store(&debits, -amount);
    atomic_store(&credits, amount);
    atomic_fetch_add(&version, 1);
    pthread_mutex_unlock(&write_lock);
  }
  return NULL;
}

static void *reader(void *arg) {
  int debit = 0, credit = 0, consistent = 0;
  (void)arg;
  for (int i = 0; i < ATTEMPTS && !consistent; i++) {
    unsigned before;
    while ((before = atomic_load(&version)) % 2 != 0) sched_yield();
    debit = atomic_load(&debits);
    credit = atomic_load(&credits);
    consistent = atomic_load(&version) == before;
  }
  if (!consistent) {
    pthread_mutex_lock(&write_lock);
    debit = atomic_load(&debits);
    credit = atomic_load(&credits);
    pthread_mutex_unlock(&write_lock);
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
