// heddle: main stores whether the worker was started, and the worker reads that before main has stored it.
// kind: assertion
// finding: started == 0
// minimum: switches=1 preemptions=1
// why: The worker must run, and main before it: two intervals. main has to be left between the
//   creation and the store of its result, where nothing blocks it.
#include <assert.h>
#include <pthread.h>

static int started = -1;

static void *worker(void *arg) {
  assert(started == 0);
  return arg;
}

int main(void) {
  pthread_t t;
  started = pthread_create(&t, NULL, worker, NULL);
  if (started == 0) pthread_join(t, NULL);
  return 0;
}
// cause: started: started == 0 | started = pthread_create
