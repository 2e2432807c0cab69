// A consumer that polls a semaphore and counts its attempts.
#include "rest.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t items;
static long rounds;

static void *consumer(void *arg) {
  for (int i = 0; i < 3; i++)
    while (sem_trywait(&items)) {
      rounds++;
      rest();
    }
  return arg;
}

static void *producer(void *arg) {
  for (int i = 0; i < 3; i++) sem_post(&items);
  return arg;
}

int main(void) {
  sem_init(&items, 0, 0);
  pthread_t t[2];
  pthread_create(&t[0], NULL, consumer, NULL);
  pthread_create(&t[1], NULL, producer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
