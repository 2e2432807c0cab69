// heddle: A cache writes its victim back with its recursive lock dropped, and chooses the slot only after it has the lock again.
// kind: clean
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
  write_back_victim();
  int slot = find_slot();
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
