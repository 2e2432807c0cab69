// heddle: Whoever finds that a worker died with the robust mutex repairs the ledger, but says so only if there was something to repair.
// kind: assertion
// finding: r == 0
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static int debit, credit, killed;

static void enter(void) {
  int r = pthread_mutex_lock(&lock);
  if (r == EOWNERDEAD) {
    if (debit != credit) {
      credit = debit;
      pthread_mutex_consistent(&lock);
    }
    r = 0;
  }
  assert(r == 0);
}

static void transfer(int amount) {
  enter();
  debit += amount;
  if (killed) pthread_exit(NULL); // in the middle, and with the lock
  credit += amount;
  if (killed) pthread_exit(NULL);
  pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
  transfer(5);
  enter();
  if (killed) pthread_exit(NULL); // nothing is wrong but that the lock is still held
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *killer(void *arg) {
  enter();
  killed = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *auditor(void *arg) {
  enter();
  assert(debit == credit);
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_mutexattr_t a;
  pthread_t w, k, u;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&lock, &a);
  pthread_mutexattr_destroy(&a);
  pthread_create(&w, NULL, worker, NULL);
  pthread_create(&k, NULL, killer, NULL);
  pthread_join(w, NULL);
  pthread_create(&u, NULL, auditor, NULL);
  pthread_join(u, NULL);
  pthread_join(k, NULL);
  auditor(NULL);
  pthread_mutex_destroy(&lock);
  return 0;
}
// cause: : killed = 1
