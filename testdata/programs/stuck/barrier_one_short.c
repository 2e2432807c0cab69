// The barrier waits for one thread more than there are.
#include "../spin/rest.h"
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int arrived;
static void *worker(void *arg) {
  pthread_mutex_lock(&m);
  arrived++;
  pthread_mutex_unlock(&m);
  for (;;) {
    pthread_mutex_lock(&m);
    int all = arrived == 4;
    pthread_mutex_unlock(&m);
    if (all) return arg;
    rest();
  }
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}
