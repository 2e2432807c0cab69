// heddle: A compressor's main frees the queue's lock when all blocks are written; the consumer that wrote the last one still has to unlock it.
// kind: signal
// finding: consumer
// args: 0
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "work.h"

enum { BLOCKS = 4 };

static struct queue {
  pthread_mutex_t *lock;
  int next;
} queue;

static atomic_int written;
static long work;

static void *consumer(void *arg) {
  unsigned state = 1;
  for (int more = 1; more;) {
    pthread_mutex_lock(queue.lock);
    int block = queue.next++;
    more = queue.next < BLOCKS;
    state = computed(state + (unsigned)block, work);
    atomic_fetch_add(&written, 1);
    pthread_mutex_unlock(queue.lock);
  }
  return arg ? arg : (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t;
  work = work_of(argc, argv);
  queue.lock = malloc(sizeof *queue.lock);
  pthread_mutex_init(queue.lock, NULL);
  pthread_create(&t, NULL, consumer, NULL);
#ifdef CORRECT
  pthread_join(t, NULL);
#else
  while (atomic_load(&written) < BLOCKS) sched_yield();
  computed(9, 4 * work);
#endif
  pthread_mutex_t *lock = queue.lock;
  queue.lock = NULL;
  pthread_mutex_destroy(lock);
  free(lock);
#ifndef CORRECT
  pthread_join(t, NULL);
#endif
  return 0;
}
