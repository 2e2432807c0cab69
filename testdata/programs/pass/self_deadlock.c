// heddle: A full log announces its rotation in the log itself; its error-checking lock tells the announcement that its thread already holds it.
// kind: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>

#define CAPACITY 2

static pthread_mutex_t log_lock;
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
  int nested = pthread_mutex_lock(&log_lock) == EDEADLK;
  if (++lines > CAPACITY) rotate();
  if (!nested) pthread_mutex_unlock(&log_lock);
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
  pthread_mutexattr_t checking;
  pthread_t b, t;
  pthread_mutexattr_init(&checking);
  pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&log_lock, &checking);
  pthread_mutexattr_destroy(&checking);
  pthread_create(&b, NULL, busy, NULL);
  pthread_create(&t, NULL, troubleshooter, NULL);
  pthread_join(b, NULL);
  pthread_join(t, NULL);
  pthread_mutex_destroy(&log_lock);
  assert(rotations == 1);
  return 0;
}
