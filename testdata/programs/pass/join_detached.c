// heddle: Worker and main settle under a lock whether the worker is detached or joined.
// kind: clean
#include <pthread.h>

static struct {
  pthread_t thread;
  pthread_mutex_t lock;
  int detached;
  int waiters;
  int result;
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *work(void *arg) {
  (void)arg;
  worker.result = 9;
  pthread_mutex_lock(&worker.lock);
  if (worker.waiters == 0) {
    worker.detached = 1;
    pthread_detach(pthread_self());
  }
  pthread_mutex_unlock(&worker.lock);
  return NULL;
}

static int wait_for_worker(void) {
  pthread_mutex_lock(&worker.lock);
  int detached = worker.detached;
  if (!detached) worker.waiters = 1;
  pthread_mutex_unlock(&worker.lock);
  if (detached) return 0;
  pthread_join(worker.thread, NULL);
  return worker.result;
}

int main(void) {
  pthread_create(&worker.thread, NULL, work, NULL);
  int result = wait_for_worker();
  return result == 0 || result == 9 ? 0 : 1;
}
