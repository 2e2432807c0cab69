// heddle: main sets the log level before it starts the log thread.
// kind: clean
#include <assert.h>
#include <pthread.h>

enum { LEVEL_UNSET, LEVEL_ERROR, LEVEL_INFO };

static int log_level;
static int lines_kept;

static void *log_thread(void *arg) {
  (void)arg;
  int level = log_level;
  assert(level != LEVEL_UNSET);
  for (int severity = LEVEL_ERROR; severity <= LEVEL_INFO; severity++)
    if (severity <= level) lines_kept++;
  return NULL;
}

int main(void) {
  pthread_t logger;
  log_level = LEVEL_INFO;
  pthread_create(&logger, NULL, log_thread, NULL);
  pthread_join(logger, NULL);
  assert(lines_kept == 2);
  return 0;
}
