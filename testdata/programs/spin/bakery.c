// Lamport's bakery.
#include "rest.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int choosing[N], number[N];
static int count;

static void *worker(void *arg) {
  int me = (int)(intptr_t)arg;
  atomic_store(&choosing[me], 1);
  int largest = 0;
  for (int i = 0; i < N; i++) {
    int n = atomic_load(&number[i]);
    if (n > largest) largest = n;
  }
  atomic_store(&number[me], largest + 1);
  atomic_store(&choosing[me], 0);
  for (int i = 0; i < N; i++) {
    while (atomic_load(&choosing[i])) rest();
    for (;;) {
      int n = atomic_load(&number[i]), mine = atomic_load(&number[me]);
      if (!n || n > mine || (n == mine && i >= me)) break;
      rest();
    }
  }
  count++;
  atomic_store(&number[me], 0);
  return NULL;
}

int main(void) {
  pthread_t t[N];
  for (intptr_t i = 0; i < N; i++) pthread_create(&t[i], NULL, worker, (void *)i);
  for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
  assert(count == N);
}
