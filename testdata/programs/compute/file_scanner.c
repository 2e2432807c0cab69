#include "compute.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { FILES = 24, WORKERS = 2, ACCESSES_PER_BYTE = 3 };

static const char pattern[] = "shuttle";
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER, end_mutex = PTHREAD_MUTEX_INITIALIZER, count_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static struct { char *text; size_t size; } files[FILES];
static int queued, taken, closed;
static size_t matches;
static atomic_int active = WORKERS;

// A text in which every 64th word is the pattern.
static char *text(size_t size, unsigned seed) {
  static const char *const words[] = {"warp", "weft", "shut", "heddle ", "reed", "shuttles"};
  char *t = malloc(size);
  for (size_t i = 0; i < size;) {
    unsigned r = next_random(&seed);
    const char *word = r % 64 == 0 ? pattern : words[r % 6];
    for (size_t k = 0; word[k] && i < size; k++) t[i++] = word[k];
  }
  return t;
}

// count counts occurrences (Horspool's algorithm).
static size_t count(const char *t, size_t size) {
  size_t length = strlen(pattern), shift[256], n = 0;
  for (int c = 0; c < 256; c++) shift[c] = length;
  for (size_t i = 0; i + 1 < length; i++) shift[(unsigned char)pattern[i]] = length - 1 - i;
  for (size_t at = 0; at + length <= size; at += shift[(unsigned char)t[at + length - 1]]) {
    size_t i = length;
    while (i > 0 && t[at + i - 1] == pattern[i - 1]) i--;
    n += i == 0;
  }
  return n;
}

// next returns the number of a file, or -1 at the end.
static int next(void) {
  pthread_mutex_lock(&queue_mutex);
  while (taken == queued && !closed) pthread_cond_wait(&queue_changed, &queue_mutex);
  int file = taken < queued ? taken++ : -1;
  pthread_mutex_unlock(&queue_mutex);
  return file;
}

static void *scan(void *arg) {
  for (int file; (file = next()) >= 0;) {
    size_t n = count(files[file].text, files[file].size);
    pthread_mutex_lock(&count_mutex);
    matches += n;
    pthread_mutex_unlock(&count_mutex);
  }
#ifndef SEEDED
  pthread_mutex_lock(&end_mutex);
#endif
  if (atomic_fetch_sub(&active, 1) == 1) pthread_cond_signal(&ended);
#ifndef SEEDED
  pthread_mutex_unlock(&end_mutex);
#endif
  return arg;
}

static void wait_for_workers(void) {
  pthread_mutex_lock(&end_mutex);
  while (atomic_load(&active) > 0) pthread_cond_wait(&ended, &end_mutex);
  pthread_mutex_unlock(&end_mutex);
}

int main(int argc, char **argv) {
  size_t size = work(argc, argv, (size_t)FILES * ACCESSES_PER_BYTE), expected = 0;
  pthread_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, scan, NULL);
  for (int i = 0; i < FILES; i++) {
    files[i].size = size;
    files[i].text = text(size, (unsigned)i + 1);
    pthread_mutex_lock(&queue_mutex);
    queued++;
    pthread_cond_signal(&queue_changed);
    pthread_mutex_unlock(&queue_mutex);
  }
  pthread_mutex_lock(&queue_mutex);
  closed = 1;
  pthread_cond_broadcast(&queue_changed);
  pthread_mutex_unlock(&queue_mutex);
  wait_for_workers();
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  for (int i = 0; i < FILES; i++) {
    expected += count(files[i].text, size);
    free(files[i].text);
  }
  assert(matches == expected);
  return 0;
}
