// heddle: Twenty connections take a slot each by number modulo nineteen, so the first and the last share one without knowing it.
// kind: assertion
// finding: slot->owner == id
// minimum: switches=3 preemptions=1
// why: One of the two that share a slot must write its name between the other's write and check:
//   connection, connection, connection, with main before them, waiting in its first join. The
//   first of the three is left inside its own work, where no other thread holds the lock it
//   needs. The remaining eighteen need not run.
#include <assert.h>
#include <pthread.h>

#define CONNECTIONS 20
#define SLOTS 19

struct slot {
  int owner;
  int requests;
};

static struct slot slots[SLOTS];
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int total_requests;

static void *connection(void *arg) {
  int id = *(const int *)arg;
  struct slot *slot = &slots[id % SLOTS];
  slot->owner = id;
  pthread_mutex_lock(&stats_lock);
  total_requests++;
  pthread_mutex_unlock(&stats_lock);
  assert(slot->owner == id);
  slot->requests = 1;
  return NULL;
}

int main(void) {
  static int ids[CONNECTIONS];
  pthread_t threads[CONNECTIONS];
  for (int i = 0; i < CONNECTIONS; i++) {
    ids[i] = i + 1;
    pthread_create(&threads[i], NULL, connection, &ids[i]);
  }
  for (int i = 0; i < CONNECTIONS; i++) pthread_join(threads[i], NULL);
  assert(total_requests == CONNECTIONS);
  return 0;
}
// cause: owner: slot->owner = id | slot->owner == id
