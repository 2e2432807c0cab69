// Two threads offer to take turns, and a referee counts the turns that were taken. With SEEDED, it
// is an error if all were, which needs DEPTH preemptions: after each of its turns, a thread goes on
// to its next offer, and unless the other thread has taken its turn by then, the offer is lost.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef DEPTH
#define DEPTH 3
#endif

static _Atomic int turn;

static void offer(int mine) {
  if (atomic_load(&turn) == mine) atomic_store(&turn, mine + 1);
}

static void *even(void *arg) {
  (void)arg;
  for (int i = 0; i <= DEPTH; i += 2) offer(i);
  return NULL;
}

static void *odd(void *arg) {
  (void)arg;
  for (int i = 1; i <= DEPTH; i += 2) offer(i);
  return NULL;
}

int main(void) {
  pthread_t e, o;
  pthread_create(&e, NULL, even, NULL);
  pthread_create(&o, NULL, odd, NULL);
  pthread_join(e, NULL);
  pthread_join(o, NULL);
#ifdef SEEDED
  assert(atomic_load(&turn) <= DEPTH);
#else
  assert(atomic_load(&turn) <= DEPTH + 1);
#endif
  return 0;
}
