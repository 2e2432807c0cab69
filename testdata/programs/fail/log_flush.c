// heddle: A flusher copies the log buffer out in one critical section and wipes it in a second one, so a line that is written in between disappears.
// kind: assertion
// finding: kept == LINE * 2
// minimum: switches=4 preemptions=1
// why: The second line is lost only if it is appended between the flusher's copy and its wipe:
//   flusher, writer, flusher, with main before (creation) and after (the assertion, behind both
//   joins). The flusher is left between two critical sections, where the lock is free.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define LINE 16

static struct {
  pthread_mutex_t lock;
  char text[8 * LINE];
  size_t length;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char file[16 * LINE];
static size_t file_length;

static void append(const char *line) {
  pthread_mutex_lock(&buffer.lock);
  memcpy(buffer.text + buffer.length, line, LINE);
  buffer.length += LINE;
  pthread_mutex_unlock(&buffer.lock);
}

static void *flusher(void *arg) {
  char copy[sizeof buffer.text];
  (void)arg;
  pthread_mutex_lock(&buffer.lock);
  size_t n = buffer.length;
  memcpy(copy, buffer.text, n);
  pthread_mutex_unlock(&buffer.lock);
  memcpy(file + file_length, copy, n);
  file_length += n;
  pthread_mutex_lock(&buffer.lock);
  memset(buffer.text, 0, buffer.length);
  buffer.length = 0;
  pthread_mutex_unlock(&buffer.lock);
  return NULL;
}

static void *writer(void *arg) {
  append(arg);
  return NULL;
}

int main(void) {
  static char started[LINE] = "started", ended[LINE] = "ended";
  pthread_t w, f;
  append(started);
  pthread_create(&w, NULL, writer, ended);
  pthread_create(&f, NULL, flusher, NULL);
  pthread_join(w, NULL);
  pthread_join(f, NULL);
  size_t kept = file_length + buffer.length;
  assert(kept == LINE * 2);
  return 0;
}
// cause: buffer: buffer.length += LINE | buffer.length = 0
