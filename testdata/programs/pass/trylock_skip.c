// heddle: Probes add their samples to a shared sum with trylock, and wait for the lock when it is taken.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t sum;
static int32_t waited;

static void *probe(void *arg) {
  if (pthread_mutex_trylock(&lock) != 0) {
    __atomic_fetch_add(&waited, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
  }
  sum += *(const int64_t *)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  static const int64_t samples[2] = {40, 2};
  pthread_t probes[2];
  for (int i = 0; i < 2; i++) pthread_create(&probes[i], NULL, probe, (void *)&samples[i]);
  for (int i = 0; i < 2; i++) pthread_join(probes[i], NULL);
  assert(sum == 42);
  assert(waited <= 1);
  return 0;
}
