// heddle: A block compressor: a reader cuts the input into blocks, workers sort, move to front and code them, a writer puts them out in order.
// kind: clean
// args: BYTES [WORKERS [racy]]

// In the shape of FSE'10's bzip2smp and pbzip2. Nearly all of its accesses are a worker's own,
// some 500 for each byte of the input: 20 kB are ten million accesses and a hundred scheduling
// points. With "racy" the writer counts what it has put out without the lock that the reader
// takes to look: the last block races, which only a recording of the whole execution shows.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, QUEUE = 8, MOST_WORKERS = 64 };

struct block {
  size_t number, size, packed;
  unsigned char raw[BLOCK], sorted[BLOCK];
  unsigned short order[BLOCK], spare[BLOCK];
  unsigned char out[2 * BLOCK];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct block *queue[QUEUE];
static size_t queued, taken, blocks;
static struct block *done[QUEUE * 4];
static size_t put_out, bytes_out, finished;
static int at_end, racy;

// Rotations of the block, compared byte by byte.
static int less(const struct block *b, unsigned x, unsigned y) {
  for (size_t i = 0; i < b->size; i++) {
    unsigned char p = b->raw[x], q = b->raw[y];
    if (p != q) return p < q;
    if (++x == b->size) x = 0;
    if (++y == b->size) y = 0;
  }
  return 0;
}

static void sort(struct block *b) {
  unsigned short *from = b->order, *to = b->spare;
  for (size_t i = 0; i < b->size; i++) from[i] = (unsigned short)i;
  for (size_t width = 1; width < b->size; width *= 2) {
    for (size_t lo = 0; lo < b->size; lo += 2 * width) {
      size_t mid = lo + width < b->size ? lo + width : b->size, hi = lo + 2 * width < b->size ? lo + 2 * width : b->size;
      size_t i = lo, j = mid;
      for (size_t k = lo; k < hi; k++) to[k] = i < mid && (j == hi || !less(b, from[j], from[i])) ? from[i++] : from[j++];
    }
    unsigned short *t = from;
    from = to;
    to = t;
  }
  for (size_t i = 0; i < b->size; i++) b->sorted[i] = b->raw[(from[i] + b->size - 1) % b->size];
}

// Move to front, and runs of zeros by their length.
static void code(struct block *b) {
  unsigned char front[256];
  for (int i = 0; i < 256; i++) front[i] = (unsigned char)i;
  unsigned run = 0;
  b->packed = 0;
  for (size_t i = 0; i < b->size; i++) {
    int at = 0;
    while (front[at] != b->sorted[i]) at++;
    memmove(front + 1, front, (size_t)at);
    front[0] = b->sorted[i];
    if (at == 0 && run < 255) {
      run++;
      continue;
    }
    if (run) b->out[b->packed++] = 0, b->out[b->packed++] = (unsigned char)run;
    run = at == 0;
    if (at) b->out[b->packed++] = (unsigned char)at;
  }
  if (run) b->out[b->packed++] = 0, b->out[b->packed++] = (unsigned char)run;
}

static void *worker(void *arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (taken == queued && !at_end) pthread_cond_wait(&changed, &mutex);
    if (taken == queued) break;
    struct block *b = queue[taken++ % QUEUE];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    sort(b);
    code(b);
    pthread_mutex_lock(&mutex);
    while (b->number >= put_out + QUEUE * 4) pthread_cond_wait(&changed, &mutex);
    done[b->number % (QUEUE * 4)] = b;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *writer(void *arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (!done[put_out % (QUEUE * 4)] && !(at_end && put_out == blocks)) pthread_cond_wait(&changed, &mutex);
    struct block *b = done[put_out % (QUEUE * 4)];
    if (!b) break;
    done[put_out++ % (QUEUE * 4)] = NULL;
    bytes_out += b->packed;
    int last = at_end && put_out == blocks;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    if (racy && last) finished = 1;
    free(b);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char **argv) {
  size_t left = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
  int workers = argc > 2 ? atoi(argv[2]) : 5;
  racy = argc > 3 && strcmp(argv[3], "racy") == 0;
  assert(workers > 0 && workers <= MOST_WORKERS);
  pthread_t t[MOST_WORKERS], w;
  for (int i = 0; i < workers; i++) pthread_create(&t[i], NULL, worker, NULL);
  pthread_create(&w, NULL, writer, NULL);
  unsigned random = 1;
  for (size_t number = 0; left > 0; number++) {
    struct block *b = malloc(sizeof *b);
    b->number = number;
    b->size = left < BLOCK ? left : BLOCK;
    left -= b->size;
    for (size_t i = 0; i < b->size; i++) {
      random = random * 1103515245 + 12345;
      b->raw[i] = (unsigned char)("etaoin shrdlu\n"[(random >> 16) % 14]);
    }
    pthread_mutex_lock(&mutex);
    while (queued - taken == QUEUE) pthread_cond_wait(&changed, &mutex);
    queue[queued++ % QUEUE] = b;
    blocks++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_lock(&mutex);
  at_end = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  size_t seen = racy ? finished : 0;
  for (int i = 0; i < workers; i++) pthread_join(t[i], NULL);
  pthread_join(w, NULL);
  printf("%zu bytes in %zu blocks%s\n", bytes_out, blocks, seen > 1 ? "!" : "");
  return 0;
}
