// heddle: The time steps of a simulation are separated by a barrier macro that opens before it resets its count, so a fast thread's next arrival is lost and the threads wait forever.
// kind: deadlock
// finding: phase
// args: 0
#include <pthread.h>
#include "work.h"

enum { THREADS = 3, STEPS = 3 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t all;
  int count, cycle;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#ifdef CORRECT
#define RESET_INSIDE(b) (b).count = 0
#define RESET_OUTSIDE(b)
#else
#define RESET_INSIDE(b)
#define RESET_OUTSIDE(b) (b).count = 0
#endif

#define BARRIER(b)                                                        \
  do {                                                                    \
    pthread_mutex_lock(&(b).lock);                                        \
    int last = ++(b).count == THREADS, now = (b).cycle;                   \
    if (last) {                                                           \
      RESET_INSIDE(b);                                                    \
      (b).cycle++;                                                        \
      pthread_cond_broadcast(&(b).all);                                   \
    } else {                                                              \
      while (now == (b).cycle) pthread_cond_wait(&(b).all, &(b).lock);    \
    }                                                                     \
    pthread_mutex_unlock(&(b).lock);                                      \
    if (last) RESET_OUTSIDE(b);                                           \
  } while (0)

static double mass[THREADS];
static long work;

static void *phase(void *arg) {
  int id = (int)(long)arg;
  unsigned state = (unsigned)id;
  for (int s = 0; s < STEPS; s++) {
    state = computed(state, work * (1 + id));
    mass[id] += state % 7;
    BARRIER(barrier);
  }
  return (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[THREADS];
  work = work_of(argc, argv);
  for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, phase, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  return 0;
}
