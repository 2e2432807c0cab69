// heddle: Three stages form a circle; each removes an item under its own buffer's lock, releases it, and adds the item under its neighbour's.
// kind: clean
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
  own->items--;
  pthread_mutex_unlock(&own->lock);
  pthread_mutex_lock(&next->lock);
  next->items++;
  pthread_mutex_unlock(&next->lock);
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
