// heddle: A worker detaches itself when no thread seems to wait for it; main may decide to join it at the same time.
// kind: misuse
// finding: join
// minimum: switches=2 preemptions=1
// why: main finds the worker attached before the worker detaches itself, and the worker finds
//   no waiter before main registers as one: main, worker, main. main is preempted between a
//   load and a store, where it is enabled; the worker runs to its end.
#include <pthread.h>

static struct {
  pthread_t thread;
  int detached;
  int waiters;
  int result;
} worker;

static void *work(void *arg) {
  (void)arg;
  worker.result = 9;
  if (worker.waiters == 0) {
    worker.detached = 1;
    pthread_detach(pthread_self());
  }
  return NULL;
}

static int wait_for_worker(void) {
  if (worker.detached) return 0;
  worker.waiters = 1;
  pthread_join(worker.thread, NULL);
  return worker.result;
}

int main(void) {
  pthread_create(&worker.thread, NULL, work, NULL);
  int result = wait_for_worker();
  return result == 0 || result == 9 ? 0 : 1;
}
// cause: worker: worker.waiters
