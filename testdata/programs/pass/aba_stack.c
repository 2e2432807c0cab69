// heddle: A lock-free free list swaps its head together with a count of changes, so a head that went and came back is noticed.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define BLOCKS 3
#define NONE -1

// The index of the first block in the low half, the number of changes in the high half.
static _Atomic uint64_t head;
static _Atomic int next[BLOCKS];
static _Atomic signed char in_use[BLOCKS];

static int index_of(uint64_t h) { return (int32_t)(uint32_t)h; }

static uint64_t successor_of(uint64_t h, int index) {
  return ((h >> 32) + 1) << 32 | (uint32_t)index;
}

static int block_alloc(void) {
  uint64_t old = atomic_load(&head);
  while (index_of(old) != NONE) {
    int block = index_of(old);
    int successor = atomic_load(&next[block]);
    if (atomic_compare_exchange_strong(&head, &old, successor_of(old, successor))) {
      int was_free = atomic_exchange(&in_use[block], 1) == 0;
      assert(was_free);
      return block;
    }
  }
  return NONE;
}

static void block_free(int block) {
  atomic_store(&in_use[block], 0);
  uint64_t old = atomic_load(&head);
  do atomic_store(&next[block], index_of(old));
  while (!atomic_compare_exchange_strong(&head, &old, successor_of(old, block)));
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
