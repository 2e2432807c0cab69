// A lock-free stack of the nodes 0 to NODES - 1, on which THREADS threads pop two nodes and push the
// first back. With SEEDED, the head has no version, so that a swap succeeds if the head was popped and
// pushed again meanwhile (ABA).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif
#define NODES (THREADS + 1)
#define NONE 0xff

static _Atomic unsigned head;  // a node in the low byte, its version above
static _Atomic unsigned char next[NODES];
static _Atomic unsigned char in_use[NODES];

static unsigned with(unsigned old, unsigned node) {
#ifdef SEEDED
  (void)old;
  return node;
#else
  return ((old >> 8) + 1) << 8 | node;
#endif
}

static unsigned pop(void) {
  unsigned old = atomic_load(&head);
  while ((old & 0xff) != NONE) {
    unsigned node = old & 0xff, successor = atomic_load(&next[node]);
    if (atomic_compare_exchange_strong(&head, &old, with(old, successor))) {
      int was_in_use = atomic_exchange(&in_use[node], 1);
      assert(!was_in_use);
      return node;
    }
  }
  return NONE;
}

static void push(unsigned node) {
  atomic_store(&in_use[node], 0);
  unsigned old = atomic_load(&head);
  do atomic_store(&next[node], (unsigned char)(old & 0xff));
  while (!atomic_compare_exchange_strong(&head, &old, with(old, node)));
}

static void *user(void *arg) {
  (void)arg;
  unsigned node = pop();
  (void)pop();
  if (node != NONE) push(node);
  return NULL;
}

int main(void) {
  pthread_t users[THREADS];
  for (unsigned i = 0; i < NODES; i++) atomic_store(&next[i], i + 1 < NODES ? (unsigned char)(i + 1) : NONE);
  for (int i = 0; i < THREADS; i++) pthread_create(&users[i], NULL, user, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(users[i], NULL);
  return 0;
}
