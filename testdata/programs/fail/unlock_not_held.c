// heddle: A sampler counts it when trylock finds the lock taken, but unlocks all the same.
// kind: misuse
// finding: unlock
// minimum: switches=2 preemptions=1
// why: The sampler that fails meets the lock while the other one holds it, so the other one runs
//   first and is left inside its critical section, which blocks nowhere; main runs before both.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long samples;
static int contended;

static void *sampler(void *arg) {
  long value = *(const long *)arg;
  if (pthread_mutex_trylock(&lock) == 0)
    samples += value;
  else
    __atomic_fetch_add(&contended, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  static const long values[2] = {11, 31};
  pthread_t samplers[2];
  for (int i = 0; i < 2; i++) pthread_create(&samplers[i], NULL, sampler, (void *)&values[i]);
  for (int i = 0; i < 2; i++) pthread_join(samplers[i], NULL);
  assert(contended <= 1);
  return 0;
}
// cause: lock: pthread_mutex_trylock(&lock) | pthread_mutex_unlock(&lock)
