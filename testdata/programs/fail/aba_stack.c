// heddle: A lock-free free list compares only the index of its head; if the head was popped and pushed again meanwhile, a block in use is handed out again.
// kind: assertion
// finding: was_free
// minimum: switches=3 preemptions=1
// why: The victim loads head and its successor before, and swaps after, the other thread has
//   taken both blocks and returned the first one: victim, other, victim, with main before them.
//   The victim is left before a compare-and-swap, which never blocks; the other thread keeps its
//   second block and can end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define BLOCKS 3
#define NONE -1

static _Atomic int head;
static _Atomic int next[BLOCKS];
static _Atomic signed char in_use[BLOCKS];

static int block_alloc(void) {
  int old = atomic_load(&head);
  while (old != NONE) {
    int successor = atomic_load(&next[old]);
    if (atomic_compare_exchange_strong(&head, &old, successor)) {
      int was_free = atomic_exchange(&in_use[old], 1) == 0;
      assert(was_free);
      return old;
    }
  }
  return NONE;
}

static void block_free(int block) {
  atomic_store(&in_use[block], 0);
  int old = atomic_load(&head);
  do atomic_store(&next[block], old);
  while (!atomic_compare_exchange_strong(&head, &old, block));
}

// Takes two blocks.
static void *pair_user(void *arg) {
  int *blocks = arg;
  blocks[0] = block_alloc();
  blocks[1] = block_alloc();
  return NULL;
}

// Takes two blocks, returns the first and keeps the second.
static void *picky_user(void *arg) {
  int *blocks = arg;
  blocks[0] = block_alloc();
  blocks[1] = block_alloc();
  if (blocks[0] != NONE) block_free(blocks[0]);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  static int pair[2], picky[2];
  for (int i = 0; i < BLOCKS; i++) next[i] = i + 1 < BLOCKS ? i + 1 : NONE;
  pthread_create(&a, NULL, pair_user, pair);
  pthread_create(&b, NULL, picky_user, picky);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
// cause: head: atomic_compare_exchange_strong(&head, &old
