// heddle: A handler of quick_exit waits for the writer's lock before it reads the journal.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened, closed;

static void check(void) {
  pthread_mutex_lock(&lock);
  assert(opened == closed);
  pthread_mutex_unlock(&lock);
}

static void *writer(void *arg) {
  pthread_mutex_lock(&lock);
  opened++;
  closed++;
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t t;
  at_quick_exit(check);
  pthread_create(&t, NULL, writer, NULL);
  quick_exit(0);
}
