// A barrier made of a mutex and a loop that polls the round.
#include "rest.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 3 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int arrived, round_;

static void barrier(void) {
  pthread_mutex_lock(&m);
  int mine = round_;
  if (++arrived == THREADS) {
    arrived = 0;
    round_++;
  }
  pthread_mutex_unlock(&m);
  for (;;) {
    pthread_mutex_lock(&m);
    int now = round_;
    pthread_mutex_unlock(&m);
    if (now != mine) return;
    rest();
  }
}

static void *worker(void *arg) {
  for (int i = 0; i < ROUNDS; i++) barrier();
  return arg;
}

int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}
