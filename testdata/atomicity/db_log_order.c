// heddle: A database's log is closed and opened again when it is full; a transaction that commits in between sees it closed and is not logged.
// kind: assertion
// finding: logged == committed
// args: 0
#include <assert.h>
#include <pthread.h>
#include "work.h"

enum { CLIENTS = 2, TRANSACTIONS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, rotation = PTHREAD_MUTEX_INITIALIZER;
static int is_open = 1, logged, committed, file;
static long work;

static void commit(void) {
#ifdef CORRECT
  pthread_mutex_lock(&rotation);
#endif
  int open_now = is_open;
#ifdef CORRECT
  pthread_mutex_unlock(&rotation);
#endif
  pthread_mutex_lock(&lock);
  committed++;
  if (open_now) logged++;
  pthread_mutex_unlock(&lock);
}

static void *client(void *arg) {
  unsigned state = (unsigned)(long)arg;
  for (int i = 0; i < TRANSACTIONS; i++) {
    state = computed(state, work);
    commit();
  }
  return (void *)(long)(state & 1);
}

static void *rotator(void *arg) {
  unsigned state = computed(7, 5 * work);
  pthread_mutex_lock(&rotation);
  is_open = 0;
  computed((unsigned)file, 1); // opens the next file
  file++;
  is_open = 1;
  pthread_mutex_unlock(&rotation);
  return arg ? arg : (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[CLIENTS + 1];
  work = work_of(argc, argv);
  for (long i = 0; i < CLIENTS; i++) pthread_create(&t[i], NULL, client, (void *)i);
  pthread_create(&t[CLIENTS], NULL, rotator, NULL);
  for (int i = 0; i <= CLIENTS; i++) pthread_join(t[i], NULL);
  assert(logged == committed);
  return 0;
}
