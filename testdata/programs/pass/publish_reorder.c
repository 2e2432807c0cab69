// heddle: Several threads publish the same two limits under the write side of a lock; the checker looks under its read side.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define PUBLISHERS 4

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int low, high;

static void *publisher(void *arg) {
  int limit = *(const int *)arg;
  pthread_rwlock_wrlock(&lock);
  low = -limit;
  high = limit;
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void *checker(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&lock);
  assert(low + high == 0);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  static const int limit = 250;
  pthread_t publishers[PUBLISHERS], c;
  for (int i = 0; i < PUBLISHERS; i++) pthread_create(&publishers[i], NULL, publisher, (void *)&limit);
  pthread_create(&c, NULL, checker, NULL);
  for (int i = 0; i < PUBLISHERS; i++) pthread_join(publishers[i], NULL);
  pthread_join(c, NULL);
  return 0;
}
