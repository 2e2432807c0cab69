// heddle: Probes add their samples to a shared sum with trylock and drop a sample when the lock is taken, though every sample must count.
// kind: assertion
// finding: sum == 42
// minimum: switches=4 preemptions=1
// why: A probe gives up only while another one holds the lock, and main reads the sum when all
//   have ended: main, holder, the one that gives up, holder, main. The holder is preempted in its
//   critical section, which blocks nowhere.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t sum;

static void *probe(void *arg) {
  if (pthread_mutex_trylock(&lock) != 0) return NULL;
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
  return 0;
}
// cause: lock: pthread_mutex_trylock(&lock) | pthread_mutex_unlock(&lock)
