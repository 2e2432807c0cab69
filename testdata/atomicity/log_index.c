// heddle: Workers of a server append to a log buffer; the index is read, used and advanced without a lock, so a line is overwritten.
// kind: assertion
// finding: lines lost
// args: 0
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include "work.h"

enum { WORKERS = 3, REQUESTS = 4, LINE = 8 };

static struct {
  pthread_mutex_t lock;
  char text[WORKERS * REQUESTS * LINE + LINE];
  int index;
} log_buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long work;

static void append(const char *line) {
#ifdef CORRECT
  pthread_mutex_lock(&log_buffer.lock);
#endif
  memcpy(&log_buffer.text[log_buffer.index], line, LINE);
  log_buffer.index += LINE;
#ifdef CORRECT
  pthread_mutex_unlock(&log_buffer.lock);
#endif
}

static void *worker(void *arg) {
  unsigned id = (unsigned)(long)arg, state = id;
  for (int i = 0; i < REQUESTS; i++) {
    state = computed(state, work * (1 + (long)id));
    char line[LINE];
    memset(line, 'a' + (int)id, LINE);
    append(line);
  }
  return (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[WORKERS];
  work = work_of(argc, argv);
  for (long i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, worker, (void *)i);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  int lines = 0;
  for (int i = 0; i < (int)sizeof log_buffer.text; i += LINE) lines += log_buffer.text[i] != 0;
  assert(lines == WORKERS * REQUESTS && "lines lost");
  return 0;
}
