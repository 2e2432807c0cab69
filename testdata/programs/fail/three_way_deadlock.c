// heddle: Three stages stand in a circle; each locks its own buffer, then its neighbour's, and all three can hold one and want the next.
// kind: deadlock
// finding: stage
// minimum: switches=3 preemptions=1
// why: main and all three stages must run: four intervals. The stage that runs first is left
//   between its two locks, and the lock it wants is free, because its neighbour has not run.
//   The others need not be preempted: going backwards round the circle, each finds its second
//   lock taken and blocks anyway.
#include <assert.h>
#include <pthread.h>

#define STAGES 3

struct buffer {
  pthread_mutex_t lock;
  int items;
};

static struct buffer buffers[STAGES];

// Moves one item from the stage's own buffer to the next stage's.
static void *stage(void *arg) {
  struct buffer *own = arg;
  struct buffer *next = own + 1 == buffers + STAGES ? buffers : own + 1;
  pthread_mutex_lock(&own->lock);
  pthread_mutex_lock(&next->lock);
  own->items--;
  next->items++;
  pthread_mutex_unlock(&next->lock);
  pthread_mutex_unlock(&own->lock);
  return NULL;
}

int main(void) {
  pthread_t stages[STAGES];
  int sum = 0;
  for (int i = 0; i < STAGES; i++) {
    pthread_mutex_init(&buffers[i].lock, NULL);
    buffers[i].items = 5;
  }
  for (int i = 0; i < STAGES; i++) pthread_create(&stages[i], NULL, stage, &buffers[i]);
  for (int i = 0; i < STAGES; i++) pthread_join(stages[i], NULL);
  for (int i = 0; i < STAGES; i++) {
    sum += buffers[i].items;
    pthread_mutex_destroy(&buffers[i].lock);
  }
  assert(sum == 5 * STAGES);
  return 0;
}
// cause: lock: pthread_mutex_lock(&next->lock)
