// heddle: Four philosophers take the left fork, then the right one; each can end up holding one and waiting for the next. The forks are semaphores.
// kind: deadlock
// finding: philosopher
// minimum: switches=4 preemptions=1
// why: main and all four philosophers must run. The first to run is preempted between its two
//   forks while both neighbours have not run, so its second fork is free. Going round the table
//   the other way, each further one finds its second fork taken and blocks anyway.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define SEATS 4

static sem_t forks[SEATS];
static int meals[SEATS];

static void *philosopher(void *arg) {
  int seat = (int)((int *)arg - meals);
  sem_t *left = &forks[seat];
  sem_t *right = &forks[(seat + 1) % SEATS];
  sem_wait(left);
  sem_wait(right);
  meals[seat]++;
  sem_post(right);
  sem_post(left);
  return NULL;
}

int main(void) {
  pthread_t guests[SEATS];
  for (int i = 0; i < SEATS; i++) sem_init(&forks[i], 0, 1);
  for (int i = 0; i < SEATS; i++) pthread_create(&guests[i], NULL, philosopher, &meals[i]);
  for (int i = 0; i < SEATS; i++) pthread_join(guests[i], NULL);
  for (int i = 0; i < SEATS; i++) {
    assert(meals[i] == 1);
    sem_destroy(&forks[i]);
  }
  return 0;
}
// cause: forks: sem_wait(right)
