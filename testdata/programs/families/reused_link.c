// A lock-free list whose first node never leaves it. THREADS threads each remove the node after the
// first one, and put it back there. With SEEDED, links have no version, so that a removal succeeds if
// its node was removed and put back meanwhile (ABA), and links a node that has left the list.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif
#define NODES (THREADS + 2)
#define NONE 0xff

static _Atomic unsigned link[NODES];  // the next node in the low byte, the link's version above
static _Atomic int owned[NODES];

static unsigned with(unsigned old, unsigned node) {
#ifdef SEEDED
  (void)old;
  return node;
#else
  return ((old >> 8) + 1) << 8 | node;
#endif
}

static unsigned remove_second(void) {
  for (;;) {
    unsigned old = atomic_load(&link[0]), node = old & 0xff;
    if (node == NONE) return NONE;
    unsigned after = atomic_load(&link[node]) & 0xff;
    if (atomic_compare_exchange_strong(&link[0], &old, with(old, after))) {
      int owners = atomic_fetch_add(&owned[node], 1);
      assert(owners == 0);
      return node;
    }
  }
}

static void put_second(unsigned node) {
  atomic_fetch_sub(&owned[node], 1);
  unsigned old = atomic_load(&link[0]);
  do atomic_store(&link[node], with(atomic_load(&link[node]), old & 0xff));
  while (!atomic_compare_exchange_strong(&link[0], &old, with(old, node)));
}

static void *user(void *arg) {
  (void)arg;
  unsigned a = remove_second(), b = remove_second();
  if (a != NONE) put_second(a);
  if (b != NONE) put_second(b);
  return NULL;
}

int main(void) {
  pthread_t users[THREADS];
  for (unsigned i = 0; i < NODES; i++) atomic_store(&link[i], i + 1 < NODES ? i + 1 : NONE);
  for (int i = 0; i < THREADS; i++) pthread_create(&users[i], NULL, user, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(users[i], NULL);
  unsigned length = 0;
  for (unsigned node = 0; node != NONE; node = atomic_load(&link[node]) & 0xff) length++;
  assert(length == NODES);
  return 0;
}
