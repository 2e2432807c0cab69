// heddle: Threads go through rounds separated by a barrier made of a counter and a condition variable that has no generation: a fast thread enters the next round before the others have left.
// kind: deadlock
// finding: barrier
// minimum: switches=7 preemptions=0
// why: Main creates the threads; all but the last to arrive at a barrier wait there, are woken and
//   must run again to wait again: eight intervals, each left where it is blocked.
#include <pthread.h>

#define THREADS 4
#define ROUNDS 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int arrived;
static double centre[THREADS];

__attribute__((noinline)) static void barrier(void) {
  pthread_mutex_lock(&lock);
  arrived++;
  if (arrived == THREADS) {
    arrived = 0;
    pthread_cond_broadcast(&all);
  } else {
    while (arrived != 0) pthread_cond_wait(&all, &lock); /* wrong: the next round counts up again */
  }
  pthread_mutex_unlock(&lock);
}

static void *cluster(void *arg) {
  int id = *(int *)arg;
  for (int r = 0; r < ROUNDS; r++) {
    double sum = 0;
    for (int i = 0; i < THREADS; i++) sum += centre[i];
    barrier();
    centre[id] = sum / THREADS + id;
    barrier();
  }
  return NULL;
}

int main(void) {
  pthread_t t[THREADS];
  static int ids[THREADS];
  for (int i = 0; i < THREADS; i++) {
    ids[i] = i;
    pthread_create(&t[i], NULL, cluster, &ids[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  return 0;
}
// cause: arrived: while (arrived != 0) | arrived++
