// heddle: main waits for the consumer's end before it takes the queue's mutex away.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct queue {
  pthread_mutex_t *mutex;
  int blocks;
  int consumed;
  sem_t drained;
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
    int last = q->blocks == 0;
    pthread_mutex_unlock(q->mutex);
    if (last) sem_post(&q->drained);
  }
}

int main(void) {
  pthread_t c;
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, NULL);
  sem_init(&queue.drained, 0, 0);
  queue.mutex = mutex;
  queue.blocks = 2;
  pthread_create(&c, NULL, consumer, &queue);
  sem_wait(&queue.drained);
  pthread_join(c, NULL);
  queue.mutex = NULL;
  pthread_mutex_destroy(mutex);
  free(mutex);
  sem_destroy(&queue.drained);
  assert(queue.consumed == 2);
  return 0;
}
