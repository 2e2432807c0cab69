// heddle: The variable is set before the worker that needs it begins.
// kind: clean
// isolation: fork
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *configure(void *arg) {
  (void)arg;
  setenv("HEDDLE_READY", "yes", 1);
  return NULL;
}

static void *work(void *arg) {
  (void)arg;
  assert(system("test \"$HEDDLE_READY\" = yes") == 0);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, configure, NULL);
  pthread_join(a, NULL);
  pthread_create(&b, NULL, work, NULL);
  pthread_join(b, NULL);
  return 0;
}
