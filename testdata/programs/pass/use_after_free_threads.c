// heddle: A handler uses the current session under the lock under which the closer clears and frees it.
// kind: clean
#include <pthread.h>
#include <stdlib.h>

struct session {
  long bytes;
  char peer[40];
};

static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;
static long total_bytes;
static struct session *current;

static void *handler(void *arg) {
  (void)arg;
  pthread_mutex_lock(&session_lock);
  if (current != NULL) total_bytes += current->bytes;
  pthread_mutex_unlock(&session_lock);
  return NULL;
}

static void *closer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&session_lock);
  struct session *s = current;
  current = NULL;
  pthread_mutex_unlock(&session_lock);
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
  return total_bytes == 0 || total_bytes == 1500 ? 0 : 1;
}
