// heddle: A worker runs a command that needs a variable which another worker may not have set yet.
// kind: assertion
// finding: system(
// minimum: switches=1 preemptions=0
// why: main creates both and waits for the first, which is not a preemption; the second runs its command
//   at once. Two threads need a switch.
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
  pthread_create(&b, NULL, work, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
// cause: : setenv("HEDDLE_READY" | system("test
