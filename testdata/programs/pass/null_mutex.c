// heddle: main waits for the consumer's end before it takes the queue's mutex away.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

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

int main(void) {
  pthread_t c;
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, NULL);
  queue.mutex = mutex;
  queue.blocks = 2;
  pthread_create(&c, NULL, consumer, &queue);
  pthread_join(c, NULL);
  queue.mutex = NULL;
  pthread_mutex_destroy(mutex);
  free(mutex);
  assert(queue.consumed == 2);
  return 0;
}
