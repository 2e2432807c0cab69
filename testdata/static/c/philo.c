// Dining philosophers: five of them and main. Each takes the fork on the left and then the
// one on the right, but for the last, who does it the other way round.
#include <assert.h>
#include <pthread.h>

enum { PHILOSOPHERS = 5, MEALS = 3, THINKING = 0, HUNGRY = 1, EATING = 2 };

static pthread_mutex_t forks[PHILOSOPHERS];
static int uses[PHILOSOPHERS]; // of each fork, guarded by it
static volatile int state[PHILOSOPHERS];
static volatile int eaten[PHILOSOPHERS];

static void *philosopher(void *arg) {
  int p = (int)(long)arg, first = p, second = (p + 1) % PHILOSOPHERS;
  if (p == PHILOSOPHERS - 1) {
    first = second;
    second = p;
  }
  for (int meal = 0; meal < MEALS; meal++) {
    state[p] = THINKING;
    for (int thought = 0; thought < 4; thought++) (void)eaten[p];
    state[p] = HUNGRY;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    state[p] = EATING;
    uses[first]++;
    uses[second]++;
    eaten[p]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
  }
  return 0;
}

int main(void) {
  pthread_t t[PHILOSOPHERS];
  for (int i = 0; i < PHILOSOPHERS; i++) pthread_mutex_init(&forks[i], 0);
  for (int i = 0; i < PHILOSOPHERS; i++) pthread_create(&t[i], 0, philosopher, (void *)(long)i);
  int total = 0;
  for (int i = 0; i < PHILOSOPHERS; i++) pthread_join(t[i], 0);
  for (int i = 0; i < PHILOSOPHERS; i++) total += eaten[i];
  assert(total == PHILOSOPHERS * MEALS);
  return 0;
}
