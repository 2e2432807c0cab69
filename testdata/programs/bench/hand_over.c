// heddle: Two threads hand over to one another 20,000 times through semaphores and print the nanoseconds a hand-over took: what a switch costs without heddle.
// kind: clean
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#define TURNS 10000

static sem_t ping, pong;

static void *other(void *arg) {
  for (int i = 0; i < TURNS; i++) {
    sem_wait(&ping);
    sem_post(&pong);
  }
  return arg;
}

int main(void) {
  struct timespec a, b;
  pthread_t t;
  sem_init(&ping, 0, 0);
  sem_init(&pong, 0, 0);
  pthread_create(&t, NULL, other, NULL);
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < TURNS; i++) {
    sem_post(&ping);
    sem_wait(&pong);
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  pthread_join(t, NULL);
  printf("%.1f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (2 * TURNS));
  return 0;
}
