// Each thread keeps the lock it has while it tries to get the other's.
#include "../spin/rest.h"
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static atomic_int holding;
static void *worker(void *arg) {
  int me = arg != NULL;
  pthread_mutex_lock(&m[me]);
  atomic_fetch_add(&holding, 1);
  while (atomic_load(&holding) < 2) rest();
  while (pthread_mutex_trylock(&m[!me])) rest();
  return arg;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, worker, NULL);
  pthread_create(&t[1], NULL, worker, &m);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
