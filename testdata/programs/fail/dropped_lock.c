// heddle: A cache's recursive lock is dropped inside a helper that writes the victim back, and the caller continues with a slot that another thread has filled meanwhile.
// kind: assertion
// finding: cache.key[slot] == EMPTY
// minimum: switches=3 preemptions=1
// why: The thread that fails chooses the slot, then the other one fills it, then the first goes
//   on: thread, thread, thread, with main before them, waiting in its join. Another thread can
//   get at the slot only while the lock is dropped, and there its owner has an atomic or a free
//   lock ahead, so it is enabled.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 4
#define EMPTY 0

static struct {
  pthread_mutex_t lock;  // recursive: find_slot is also called by those who hold it
  int key[SLOTS];
  atomic_uint written_back;
} cache;

static int find_slot(void) {
  int slot = 0;
  pthread_mutex_lock(&cache.lock);
  while (slot < SLOTS - 1 && cache.key[slot] != EMPTY) slot++;
  pthread_mutex_unlock(&cache.lock);
  return slot;
}

// Called with the lock held; drops it, so as not to stop everyone during the write.
static void write_back_victim(void) {
  pthread_mutex_unlock(&cache.lock);
  atomic_fetch_add(&cache.written_back, 1);
  pthread_mutex_lock(&cache.lock);
}

static void *insert(void *arg) {
  pthread_mutex_lock(&cache.lock);
  int slot = find_slot();
  write_back_victim();
  assert(cache.key[slot] == EMPTY);
  cache.key[slot] = *(const int *)arg;
  pthread_mutex_unlock(&cache.lock);
  return NULL;
}

int main(void) {
  static const int keys[2] = {101, 102};
  pthread_mutexattr_t recursive;
  pthread_t threads[2];
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&cache.lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, insert, (void *)&keys[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&cache.lock);
  return 0;
}
// cause: cache: cache.key[slot] = *(
