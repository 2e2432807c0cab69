// heddle: Four philosophers take two forks each; the one in the last seat begins with the right fork, so no circle can close. The forks are semaphores.
// kind: clean
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
  int last = seat == SEATS - 1;
  sem_wait(last ? right : left);
  sem_wait(last ? left : right);
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
