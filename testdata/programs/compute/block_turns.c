#include "codec.h"

#include <assert.h>
#include <pthread.h>

enum { BLOCKS = 16, WORKERS = 3 };

static pthread_mutex_t input = PTHREAD_MUTEX_INITIALIZER, output = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static size_t size;
static int read_next, turn; // numbers of blocks
static unsigned char *packed[BLOCKS];
static size_t packed_size[BLOCKS];

// read_block returns the number of the block that it has read, or BLOCKS at the end of the input.
static int read_block(unsigned char *raw) {
  pthread_mutex_lock(&input);
  int number = read_next;
  if (number < BLOCKS) {
    read_next++;
    fill(raw, size, (unsigned)number + 1);
  }
  pthread_mutex_unlock(&input);
  return number;
}

// write_block waits until all blocks before this one have been written.
static void write_block(int number, const unsigned char *out, size_t n) {
  pthread_mutex_lock(&output);
  while (turn != number) pthread_cond_wait(&turn_changed, &output);
  packed[number] = malloc(n);
  packed_size[number] = n;
  for (size_t i = 0; i < n; i++) packed[number][i] = out[i];
  turn++;
#ifdef SEEDED
  pthread_cond_signal(&turn_changed);
#else
  pthread_cond_broadcast(&turn_changed);
#endif
  pthread_mutex_unlock(&output);
}

static void *compress(void *arg) {
  unsigned char *raw = malloc(size), *out = malloc(PACKED(size));
  for (int number; (number = read_block(raw)) < BLOCKS;) write_block(number, out, pack(raw, size, out));
  free(raw);
  free(out);
  return arg;
}

int main(int argc, char **argv) {
  size = work(argc, argv, (size_t)BLOCKS * (ACCESSES_PER_BYTE + 3));
  pthread_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, compress, NULL);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  unsigned char *raw = malloc(size);
  for (int i = 0; i < BLOCKS; i++) {
    fill(raw, size, (unsigned)i + 1);
    assert(matches(packed[i], packed_size[i], raw, size));
    free(packed[i]);
  }
  free(raw);
  return 0;
}
