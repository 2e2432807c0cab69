// heddle: Four threads count with atomics, and copy and clear blocks of memory, without a scheduler; the argument is the number of rounds.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long total;
static long rounds;
static char pattern[4][256];

static void *count(void *arg) {
  char *mine = arg, block[256];
  _Atomic int local = 0;
  for (long i = 0; i < rounds; i++) {
    memcpy(block, mine, (size_t)(i & 255));
    memset(block, (int)i, (size_t)(i & 127));
    int seen = atomic_load_explicit(&local, memory_order_acquire);
    while (!atomic_compare_exchange_weak(&local, &seen, seen + 1)) {}
    if ((i & 15) == 0) atomic_fetch_add(&total, 16);
  }
  return NULL;
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? atol(argv[1]) : 16;
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, count, pattern[i]);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  assert(total >= 4 * rounds);
  return 0;
}
