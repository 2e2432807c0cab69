// heddle: A consumer looks whether there is work before it locks the mutex of its condition variable, so it can
//   miss the signal and wait indefinitely. The mutex held from the look on cures it, because the wait releases it.
// kind: deadlock
// finding: consumer
#include <pthread.h>

struct queue {
  int waiting;
  pthread_mutex_t mutex;
  pthread_cond_t filled;
};

static struct queue queue = {0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void *consumer(void *arg) {
  int empty = __atomic_load_n(&queue.waiting, __ATOMIC_SEQ_CST) == 0; // begin
  pthread_mutex_lock(&queue.mutex);
  if (empty) pthread_cond_wait(&queue.filled, &queue.mutex);
  pthread_mutex_unlock(&queue.mutex);                                 // end
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, consumer, NULL);
  pthread_mutex_lock(&queue.mutex);
  __atomic_store_n(&queue.waiting, 1, __ATOMIC_SEQ_CST);
  pthread_cond_signal(&queue.filled);
  pthread_mutex_unlock(&queue.mutex);
  pthread_join(t, NULL);
  return 0;
}
