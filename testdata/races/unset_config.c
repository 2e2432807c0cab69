// heddle: A thread uses a configuration that main may not have set yet, or not have filled in yet: the second bug is behind the first.
// kind: signal | exit
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

static int *config;
static sem_t ready;

static void *use(void *arg) {
  (void)arg;
#ifdef FIX
  sem_wait(&ready);
#endif
  return (void *)(intptr_t)*config;
}

int main(void) {
  pthread_t t;
  void *result;
  sem_init(&ready, 0, 0);
  pthread_create(&t, NULL, use, NULL);
  config = malloc(sizeof *config);
  *config = 3;
  sem_post(&ready);
  pthread_join(t, &result);
  free(config);
  return (intptr_t)result != 3;
}
