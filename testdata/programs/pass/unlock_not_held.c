// heddle: A sampler unlocks only when its trylock got the lock.
// kind: clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long samples;
static int contended;

static void *sampler(void *arg) {
  long value = *(const long *)arg;
  if (pthread_mutex_trylock(&lock) == 0) {
    samples += value;
    pthread_mutex_unlock(&lock);
  } else {
    __atomic_fetch_add(&contended, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(void) {
  static const long values[2] = {11, 31};
  pthread_t samplers[2];
  for (int i = 0; i < 2; i++) pthread_create(&samplers[i], NULL, sampler, (void *)&values[i]);
  for (int i = 0; i < 2; i++) pthread_join(samplers[i], NULL);
  assert(contended > 0 || samples == 42);
  return 0;
}
