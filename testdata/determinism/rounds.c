// heddle: Workers wait for the seed, then exchange values in rounds with a barrier between them.
//   Holds: each round reads what the one before wrote.
// kind: clean
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

enum { WORKERS = 3, ROUNDS = 4 };
static int value[ROUNDS + 1][WORKERS];
static int seed;
static sem_t start;
static pthread_barrier_t barrier;

static void *work(void *arg) {
  int n = (int)(long)arg;
  sem_wait(&start);
  value[0][n] = seed + n;
  for (int r = 0; r < ROUNDS; r++) {
    pthread_barrier_wait(&barrier);
    value[r + 1][n] = value[r][(n + 1) % WORKERS];
  }
  return NULL;
}

int main(void) {
  pthread_t t[WORKERS];
  sem_init(&start, 0, 0);
  pthread_barrier_init(&barrier, NULL, WORKERS);
  for (long i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, work, (void *)i);
  seed = 7;
  for (int i = 0; i < WORKERS; i++) sem_post(&start);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  return value[ROUNDS][0] != 8;
}
