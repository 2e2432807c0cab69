// heddle: The phases of a transformation are separated by a barrier macro that counts arrivals before it takes its lock, so an arrival is lost and the threads wait forever.
// kind: deadlock
// finding: phase
// args: 0
#include <pthread.h>
#include "work.h"

enum { THREADS = 3, PHASES = 3, SIZE = 12 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t all;
  int count, cycle;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#ifdef CORRECT
#define COUNT_OUTSIDE(b)
#define COUNT_INSIDE(b) (b).count++
#else
#define COUNT_OUTSIDE(b) (b).count++
#define COUNT_INSIDE(b)
#endif

#define BARRIER(b)                                                        \
  do {                                                                    \
    COUNT_OUTSIDE(b);                                                     \
    pthread_mutex_lock(&(b).lock);                                        \
    COUNT_INSIDE(b);                                                      \
    if ((b).count == THREADS) {                                           \
      (b).count = 0;                                                      \
      (b).cycle++;                                                        \
      pthread_cond_broadcast(&(b).all);                                   \
    } else {                                                              \
      for (int now = (b).cycle; now == (b).cycle;) pthread_cond_wait(&(b).all, &(b).lock); \
    }                                                                     \
    pthread_mutex_unlock(&(b).lock);                                      \
  } while (0)

static unsigned data[SIZE], turned[SIZE];
static long work;

static void *phase(void *arg) {
  int id = (int)(long)arg;
  for (int p = 0; p < PHASES; p++) {
    for (int i = id; i < SIZE; i += THREADS) turned[i] = computed(data[(i * 5 + 1) % SIZE], work * (1 + id));
    BARRIER(barrier);
    for (int i = id; i < SIZE; i += THREADS) data[i] = turned[(i * 7 + 3) % SIZE];
    BARRIER(barrier);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t t[THREADS];
  work = work_of(argc, argv);
  for (int i = 0; i < SIZE; i++) data[i] = (unsigned)i;
  for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, phase, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  return 0;
}
