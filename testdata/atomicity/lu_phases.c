// heddle: The phases of a factorization are separated by a barrier macro that counts arrivals under its lock but tests the count after it, so two threads take themselves for the last and open the barrier twice.
// kind: assertion|deadlock
// finding: phase
// args: 0
#include <assert.h>
#include <pthread.h>
#include "work.h"

enum { THREADS = 3, PHASES = 3 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t all;
  int count, cycle;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#ifdef CORRECT
#define TEST(b, mine) ((mine) == THREADS)
#else
#define TEST(b, mine) ((b).count == THREADS)
#endif

#define BARRIER(b)                                                        \
  do {                                                                    \
    pthread_mutex_lock(&(b).lock);                                        \
    int mine = ++(b).count, now = (b).cycle;                              \
    pthread_mutex_unlock(&(b).lock);                                      \
    (void)mine;                                                           \
    if (TEST(b, mine)) {                                                  \
      pthread_mutex_lock(&(b).lock);                                      \
      (b).count = 0;                                                      \
      (b).cycle++;                                                        \
      pthread_cond_broadcast(&(b).all);                                   \
      pthread_mutex_unlock(&(b).lock);                                    \
    } else {                                                              \
      pthread_mutex_lock(&(b).lock);                                      \
      while (now == (b).cycle) pthread_cond_wait(&(b).all, &(b).lock);    \
      pthread_mutex_unlock(&(b).lock);                                    \
    }                                                                     \
  } while (0)

static long work;

static void *phase(void *arg) {
  int id = (int)(long)arg;
  unsigned state = (unsigned)id;
  for (int p = 0; p < PHASES; p++) {
    state = computed(state, work * (1 + id));
    BARRIER(barrier);
  }
  return (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[THREADS];
  work = work_of(argc, argv);
  for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, phase, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  assert(barrier.cycle == PHASES && "a phase was opened twice");
  return 0;
}
