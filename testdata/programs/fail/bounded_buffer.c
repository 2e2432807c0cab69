// heddle: Producer and consumers of a one-place buffer wait on one condition variable and wake one waiter, which may stand on the wrong side.
// kind: deadlock
// finding: await
// minimum: switches=5 preemptions=0
// why: The last consumer must have begun to wait before the producer's first item is in (else it
//   takes the item), and that item's signal must go to the other consumer, which therefore waits
//   too: main, consumer, consumer, producer until it finds the buffer full. Then the woken
//   consumer takes the item and wakes its like instead of the producer, which waits again: two
//   more intervals. Each thread is left where it is blocked or has ended.
#include <assert.h>
#include <pthread.h>

#define ITEMS 2

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int full;
  int item;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

__attribute__((noinline)) static void await(int full) {
  while (buffer.full != full) pthread_cond_wait(&buffer.changed, &buffer.lock);
}

static void *producer(void *arg) {
  (void)arg;
  for (int i = 1; i <= ITEMS; i++) {
    pthread_mutex_lock(&buffer.lock);
    await(0);
    buffer.item = i;
    buffer.full = 1;
    pthread_cond_signal(&buffer.changed);
    pthread_mutex_unlock(&buffer.lock);
  }
  return NULL;
}

static void *consumer(void *arg) {
  pthread_mutex_lock(&buffer.lock);
  await(1);
  *(int *)arg = buffer.item;
  buffer.full = 0;
  pthread_cond_signal(&buffer.changed);
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
// cause: buffer: pthread_cond_signal(&buffer.changed)
