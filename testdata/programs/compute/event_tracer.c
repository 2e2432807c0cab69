#include "compute.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { WORKERS = 3, RECORDS = 12, BUFFER = 4, ACCESSES_PER_NUMBER = 5 };

// The library. A thread registers, logs into a buffer of its own, which is written to the log when
// it is full, and unregisters. The registry's lock is taken before the log's.
struct buffer {
  int number, used, registered;
  unsigned records[BUFFER];
};

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER, log_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[WORKERS];
static int registered, most_registered;
static unsigned log_sum;
static int log_lines;

static void write_line(unsigned record) {
  log_sum += record;
  log_lines++;
}

static void trace_begin(struct buffer *b) {
  pthread_mutex_lock(&registry_mutex);
  b->registered = 1;
  if (++registered > most_registered) most_registered = registered;
  pthread_mutex_lock(&log_mutex);
  write_line((unsigned)b->number);
  pthread_mutex_unlock(&log_mutex);
  pthread_mutex_unlock(&registry_mutex);
}

static void trace_flush(struct buffer *b) {
#ifdef SEEDED
  pthread_mutex_lock(&log_mutex);
  pthread_mutex_lock(&registry_mutex);
#else
  pthread_mutex_lock(&registry_mutex);
  pthread_mutex_lock(&log_mutex);
#endif
  assert(b->registered && registered > 0);
  for (int i = 0; i < b->used; i++) write_line(b->records[i]);
  b->used = 0;
  pthread_mutex_unlock(&registry_mutex);
  pthread_mutex_unlock(&log_mutex);
}

static void trace_log(struct buffer *b, unsigned record) {
  b->records[b->used++] = record;
  if (b->used == BUFFER) trace_flush(b);
}

static void trace_end(struct buffer *b) {
  trace_flush(b);
  pthread_mutex_lock(&registry_mutex);
  b->registered = 0;
  registered--;
  pthread_mutex_unlock(&registry_mutex);
}

// The program that is traced: each thread counts primes with a sieve of its own.
static size_t size;

static unsigned primes(unsigned char *sieve, size_t skip) {
  unsigned n = 0;
  memset(sieve, 1, size);
  for (size_t i = 2; i < size; i++) {
    if (!sieve[i]) continue;
    if (i > skip) n++;
    for (size_t k = 2 * i; k < size; k += i) sieve[k] = 0;
  }
  return n;
}

static void *worker(void *arg) {
  struct buffer *b = arg;
  unsigned char *sieve = malloc(size);
  trace_begin(b);
  for (int i = 0; i < RECORDS; i++) trace_log(b, primes(sieve, (size_t)i));
  trace_end(b);
  free(sieve);
  return NULL;
}

int main(int argc, char **argv) {
  size = work(argc, argv, (size_t)WORKERS * RECORDS * ACCESSES_PER_NUMBER);
  pthread_t t[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    buffers[i].number = i;
    pthread_create(&t[i], NULL, worker, &buffers[i]);
  }
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  unsigned sum = 0;
  unsigned char *sieve = malloc(size);
  for (int i = 0; i < RECORDS; i++) sum += WORKERS * primes(sieve, (size_t)i);
  for (int i = 0; i < WORKERS; i++) sum += (unsigned)i;
  free(sieve);
  assert(log_lines == WORKERS * (RECORDS + 1) && log_sum == sum);
  assert(registered == 0 && most_registered > 0);
  return 0;
}
