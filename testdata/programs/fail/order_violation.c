// heddle: main starts the log thread first and sets its level afterwards; the thread gives main some time for that, which may not be enough.
// kind: assertion
// finding: level != LEVEL_UNSET
// minimum: switches=1 preemptions=1
// why: The log thread must run, and main before it: two intervals. main has to be left between
//   the creation and the store that follows it, where nothing blocks it.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

enum { LEVEL_UNSET, LEVEL_ERROR, LEVEL_INFO };

static int log_level;
static int lines_kept;

static void *log_thread(void *arg) {
  (void)arg;
  usleep(200);
  int level = log_level;
  assert(level != LEVEL_UNSET);
  for (int severity = LEVEL_ERROR; severity <= LEVEL_INFO; severity++)
    if (severity <= level) lines_kept++;
  return NULL;
}

int main(void) {
  pthread_t logger;
  pthread_create(&logger, NULL, log_thread, NULL);
  log_level = LEVEL_INFO;
  pthread_join(logger, NULL);
  assert(lines_kept == 2);
  return 0;
}
// cause: log_level: level = log_level | log_level = LEVEL_INFO
