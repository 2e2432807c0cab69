// heddle: main takes the queue's mutex away as soon as it finds the queue empty, while the consumer still comes back to look for more.
// kind: signal
// finding: SIGSEGV
// minimum: switches=3 preemptions=2
// why: main finds the queue empty after the consumer has taken the last block, and the consumer
//   locks through the pointer that main cleared after that: main, consumer, main, consumer. The
//   first time main is preempted it polls, and no thread that could block it has run; the consumer
//   is left after an unlock, where the lock is free. The second time main waits in its join.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct queue {
  pthread_mutex_t *mutex;
  int blocks;
  int consumed;
};

static struct queue queue;

static void *consumer(void *arg) {
  struct queue *q = arg;
  for (;;) {
    pthread_mutex_lock(q->mutex);
    if (q->blocks == 0) {
      pthread_mutex_unlock(q->mutex);
      return NULL;
    }
    q->blocks--;
    q->consumed++;
    pthread_mutex_unlock(q->mutex);
  }
}

static int is_empty(struct queue *q) {
  pthread_mutex_lock(q->mutex);
  int empty = q->blocks == 0;
  pthread_mutex_unlock(q->mutex);
  return empty;
}

int main(void) {
  pthread_t c;
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, NULL);
  queue.mutex = mutex;
  queue.blocks = 2;
  pthread_create(&c, NULL, consumer, &queue);
  while (!is_empty(&queue)) usleep(50);
  queue.mutex = NULL;
  pthread_join(c, NULL);
  pthread_mutex_destroy(mutex);
  free(mutex);
  assert(queue.consumed == 2);
  return 0;
}
// cause: queue.mutex: pthread_mutex_unlock(q->mutex) | queue.mutex = NULL
