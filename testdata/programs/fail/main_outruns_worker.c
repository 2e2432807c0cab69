// heddle: main gives a detached writer some time instead of waiting for it, and may look at the file's state too early.
// kind: assertion
// finding: saved == DOCUMENTS
// minimum: switches=0 preemptions=0
// why: main alone is enough: it creates the writer, sleeps, and finds nothing saved.
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define DOCUMENTS 3

static int saved;

static void *writer(void *arg) {
  (void)arg;
  for (int i = 0; i < DOCUMENTS; i++) {
    saved = i + 1;
    usleep(1);
  }
  return NULL;
}

int main(void) {
  const struct timespec long_enough = {0, 700 * 1000};
  pthread_t w;
  pthread_create(&w, NULL, writer, NULL);
  pthread_detach(w);
  nanosleep(&long_enough, NULL);
  assert(saved == DOCUMENTS);
  return 0;
}
// cause: saved: saved = i + 1 | saved == DOCUMENTS
