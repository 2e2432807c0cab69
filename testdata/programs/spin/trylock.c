// Two locks in opposite orders, without deadlock: a thread without the second releases the first.
#include "rest.h"
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int count;

static void both(int first) {
  for (;;) {
    pthread_mutex_lock(&m[first]);
    if (!pthread_mutex_trylock(&m[1 - first])) break;
    pthread_mutex_unlock(&m[first]);
    rest();
  }
  count++;
  pthread_mutex_unlock(&m[0]);
  pthread_mutex_unlock(&m[1]);
}

static void *one(void *arg) { for (int i = 0; i < 2; i++) both(0); return arg; }
static void *two(void *arg) { for (int i = 0; i < 2; i++) both(1); return arg; }

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, one, NULL);
  pthread_create(&t[1], NULL, two, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(count == 4);
}
