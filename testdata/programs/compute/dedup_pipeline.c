#include "codec.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { CHUNKS = 40, DISTINCT = 17, BUCKETS = 4, DEDUPERS = 2 };

struct entry {
  unsigned long hash;
  const unsigned char *raw;
  unsigned char *out;
  size_t packed;
  struct entry *next;
};

struct chunk {
  const unsigned char *raw;
  struct entry *entry;
  int is_new;
};

struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int chunks[CHUNKS];
  int head, tail, writers; // writers: threads that may still put something in
};

static struct queue fragments = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .writers = 1};
static struct queue checked = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .writers = DEDUPERS};
static struct { pthread_mutex_t mutex; struct entry *first; } table[BUCKETS];
static struct chunk chunks[CHUNKS];
static unsigned char *input;
static size_t size; // of a chunk

static void put(struct queue *q, int number) {
  pthread_mutex_lock(&q->mutex);
  q->chunks[q->tail++] = number;
  pthread_cond_signal(&q->changed);
  pthread_mutex_unlock(&q->mutex);
}

static void close_queue(struct queue *q) {
  pthread_mutex_lock(&q->mutex);
  q->writers--;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->mutex);
}

// take returns -1 at the end.
static int take(struct queue *q) {
  pthread_mutex_lock(&q->mutex);
  while (q->head == q->tail && q->writers > 0) pthread_cond_wait(&q->changed, &q->mutex);
  int number = q->head < q->tail ? q->chunks[q->head++] : -1;
  pthread_mutex_unlock(&q->mutex);
  return number;
}

static unsigned long hash(const unsigned char *raw) {
  unsigned long h = 14695981039346656037ul;
  for (size_t i = 0; i < size; i++) h = (h ^ raw[i]) * 1099511628211ul;
  return h;
}

// The caller holds the lock of the hash's bucket.
static struct entry *find(unsigned long h) {
  struct entry *e = table[h % BUCKETS].first;
  while (e && e->hash != h) e = e->next;
  return e;
}

// The caller holds the lock of the entry's bucket. No entry is inserted twice.
static void insert(struct entry *e) {
  assert(!find(e->hash));
  e->next = table[e->hash % BUCKETS].first;
  table[e->hash % BUCKETS].first = e;
}

static void deduplicate(struct chunk *c) {
  unsigned long h = hash(c->raw);
  pthread_mutex_t *mutex = &table[h % BUCKETS].mutex;
  pthread_mutex_lock(mutex);
  c->entry = find(h);
  if (!c->entry) {
#ifdef SEEDED
    pthread_mutex_unlock(mutex);
#endif
    c->entry = calloc(1, sizeof *c->entry);
    c->entry->hash = h;
    c->entry->raw = c->raw;
    c->is_new = 1;
#ifdef SEEDED
    pthread_mutex_lock(mutex);
#endif
    insert(c->entry);
  }
  pthread_mutex_unlock(mutex);
}

static void *deduper(void *arg) {
  for (int number; (number = take(&fragments)) >= 0;) {
    deduplicate(&chunks[number]);
    put(&checked, number);
  }
  close_queue(&checked);
  return arg;
}

static void *compressor(void *arg) {
  for (int number; (number = take(&checked)) >= 0;) {
    struct entry *e = chunks[number].entry;
    if (!chunks[number].is_new) continue;
    e->out = malloc(PACKED(size));
    e->packed = pack(e->raw, size, e->out);
  }
  return arg;
}

int main(int argc, char **argv) {
  size = work(argc, argv, CHUNKS * 6 + DISTINCT * ACCESSES_PER_BYTE);
  if (size < 4) size = 4; // so that chunks differ
  input = malloc(CHUNKS * size);
  for (int i = 0; i < BUCKETS; i++) pthread_mutex_init(&table[i].mutex, NULL);
  pthread_t dedupers[DEDUPERS], last;
  for (int i = 0; i < DEDUPERS; i++) pthread_create(&dedupers[i], NULL, deduper, NULL);
  pthread_create(&last, NULL, compressor, NULL);
  for (int i = 0; i < CHUNKS; i++) {
    chunks[i].raw = input + (size_t)i * size;
    fill(input + (size_t)i * size, size, (unsigned)(i % DISTINCT) + 1);
    put(&fragments, i);
  }
  close_queue(&fragments);
  for (int i = 0; i < DEDUPERS; i++) pthread_join(dedupers[i], NULL);
  pthread_join(last, NULL);
  int unique = 0;
  for (int i = 0; i < CHUNKS; i++) {
    struct entry *e = chunks[i].entry;
    assert(memcmp(e->raw, chunks[i].raw, size) == 0);
    if (!chunks[i].is_new) continue;
    unique++;
    assert(matches(e->out, e->packed, e->raw, size));
  }
  assert(unique == DISTINCT);
  for (int i = 0; i < CHUNKS; i++) {
    if (chunks[i].is_new) free(chunks[i].entry->out), free(chunks[i].entry);
  }
  free(input);
  return 0;
}
