// heddle: A handler takes the current session's pointer and counts its bytes later; the closer may have freed the session by then.
// kind: misuse
// finding: free
// minimum: switches=3 preemptions=1
// why: The handler loads the pointer before the closer clears it and uses it after the closer has
//   freed the block: handler, closer, handler, with main before them. Nothing blocks the handler
//   where it is left; the closer can run to its end.
#include <pthread.h>
#include <stdlib.h>

struct session {
  long bytes;
  char peer[40];
};

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static long total_bytes;
static struct session *current;

static void *handler(void *arg) {
  struct session *s = current;
  (void)arg;
  if (s != NULL) {
    pthread_mutex_lock(&totals_lock);
    total_bytes += s->bytes;
    pthread_mutex_unlock(&totals_lock);
  }
  return NULL;
}

static void *closer(void *arg) {
  struct session *s = current;
  (void)arg;
  current = NULL;
  free(s);
  return NULL;
}

int main(void) {
  pthread_t h, c;
  current = calloc(1, sizeof *current);
  current->bytes = 1500;
  pthread_create(&h, NULL, handler, NULL);
  pthread_create(&c, NULL, closer, NULL);
  pthread_join(h, NULL);
  pthread_join(c, NULL);
  return 0;
}
// cause: current: *s = current | current = NULL
