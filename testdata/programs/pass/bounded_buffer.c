// heddle: Producer and consumers of a one-place buffer have a condition variable each, so a signal always reaches the right side.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define ITEMS 2

static struct {
  pthread_mutex_t lock;
  pthread_cond_t emptied, filled;
  int full;
  int item;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .emptied = PTHREAD_COND_INITIALIZER,
            .filled = PTHREAD_COND_INITIALIZER};

static void *producer(void *arg) {
  (void)arg;
  for (int i = 1; i <= ITEMS; i++) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.full) pthread_cond_wait(&buffer.emptied, &buffer.lock);
    buffer.item = i;
    buffer.full = 1;
    pthread_cond_signal(&buffer.filled);
    pthread_mutex_unlock(&buffer.lock);
  }
  return NULL;
}

static void *consumer(void *arg) {
  pthread_mutex_lock(&buffer.lock);
  while (!buffer.full) pthread_cond_wait(&buffer.filled, &buffer.lock);
  *(int *)arg = buffer.item;
  buffer.full = 0;
  pthread_cond_signal(&buffer.emptied);
  pthread_mutex_unlock(&buffer.lock);
  return NULL;
}

int main(void) {
  pthread_t p, c[ITEMS];
  static int got[ITEMS];
  pthread_create(&p, NULL, producer, NULL);
  for (int i = 0; i < ITEMS; i++) pthread_create(&c[i], NULL, consumer, &got[i]);
  pthread_join(p, NULL);
  for (int i = 0; i < ITEMS; i++) pthread_join(c[i], NULL);
  assert(got[0] + got[1] == 3);
  return 0;
}
