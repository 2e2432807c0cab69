// heddle: A full log announces its rotation in the log itself, but only in verbose mode, and then takes a lock that its thread already holds.
// kind: deadlock
// finding: log_line
// minimum: switches=2 preemptions=1
// why: The writer that rotates must find verbose mode on, and only the other thread turns it on,
//   for the length of one line: other thread, writer, with main before them. The other thread is
//   left inside that stretch with the lock free, so it is enabled; then it and main wait for the
//   writer, which waits for itself.
#include <assert.h>
#include <pthread.h>

#define CAPACITY 2

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int verbose;
static int lines;
static int rotations;

static void log_line(void);

// Called with the lock held.
static void rotate(void) {
  lines = 0;
  rotations++;
  if (verbose) log_line();
}

__attribute__((noinline)) static void log_line(void) {
  pthread_mutex_lock(&log_lock);
  if (++lines > CAPACITY) rotate();
  pthread_mutex_unlock(&log_lock);
}

static void set_verbose(int on) {
  pthread_mutex_lock(&log_lock);
  verbose = on;
  pthread_mutex_unlock(&log_lock);
}

static void *busy(void *arg) {
  (void)arg;
  for (int i = 0; i <= CAPACITY; i++) log_line();
  return NULL;
}

static void *troubleshooter(void *arg) {
  (void)arg;
  set_verbose(1);
  set_verbose(0);
  return NULL;
}

int main(void) {
  pthread_t b, t;
  pthread_create(&b, NULL, busy, NULL);
  pthread_create(&t, NULL, troubleshooter, NULL);
  pthread_join(b, NULL);
  pthread_join(t, NULL);
  assert(rotations == 1);
  return 0;
}
// cause: verbose: verbose = on | if (verbose)
