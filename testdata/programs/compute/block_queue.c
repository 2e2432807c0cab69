#include "codec.h"

#include <assert.h>
#include <pthread.h>

enum { BLOCKS = 16, WORKERS = 3, CAPACITY = 4 };

struct block {
  int number;
  size_t size, packed;
  unsigned char *raw, *out;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct block *queue[CAPACITY], *done[BLOCKS];
static int head, queued, closed;

static void put(struct block *b) {
  pthread_mutex_lock(&mutex);
  while (queued == CAPACITY) pthread_cond_wait(&not_full, &mutex);
  queue[(head + queued++) % CAPACITY] = b;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&mutex);
}

static struct block *take(void) {
  struct block *b = NULL;
  pthread_mutex_lock(&mutex);
  while (queued == 0 && !closed) pthread_cond_wait(&not_empty, &mutex);
  if (queued > 0) {
    b = queue[head];
    head = (head + 1) % CAPACITY;
    queued--;
    pthread_cond_signal(&not_full);
  }
  pthread_mutex_unlock(&mutex);
  return b;
}

static void finish(struct block *b) {
  pthread_mutex_lock(&mutex);
  done[b->number] = b;
  pthread_cond_signal(&finished);
  pthread_mutex_unlock(&mutex);
}

static void *compress(void *arg) {
  for (struct block *b; (b = take()) != NULL;) {
    size_t packed = pack(b->raw, b->size, b->out);
#ifdef SEEDED
    finish(b);
    b->packed = packed;
#else
    b->packed = packed;
    finish(b);
#endif
  }
  return arg;
}

// write_in_order takes the blocks out in their order, however they were finished.
static void *write_in_order(void *arg) {
  for (int next = 0; next < BLOCKS; next++) {
    pthread_mutex_lock(&mutex);
    while (!done[next]) pthread_cond_wait(&finished, &mutex);
    struct block *b = done[next];
    pthread_mutex_unlock(&mutex);
    assert(matches(b->out, b->packed, b->raw, b->size));
    free(b->raw);
    free(b->out);
    free(b);
  }
  return arg;
}

int main(int argc, char **argv) {
  size_t size = work(argc, argv, (size_t)BLOCKS * ACCESSES_PER_BYTE);
  pthread_t workers[WORKERS], writer;
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, compress, NULL);
  pthread_create(&writer, NULL, write_in_order, NULL);
  for (int i = 0; i < BLOCKS; i++) {
    struct block *b = calloc(1, sizeof *b);
    b->number = i;
    b->size = size;
    b->raw = malloc(size);
    b->out = malloc(PACKED(size));
    fill(b->raw, size, (unsigned)i + 1);
    put(b);
  }
  pthread_mutex_lock(&mutex);
  closed = 1;
  pthread_cond_broadcast(&not_empty);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  pthread_join(writer, NULL);
  return 0;
}
