// heddle: Producers and consumers of a small ring pass many items with one condition variable for both sides and wake one waiter, which may stand on the wrong side.
// kind: deadlock
// finding: await_
// minimum: switches=6 preemptions=0
// why: Main and all four others have run at the end. A producer that finds the place full must wake
//   another producer or a consumer another consumer, which waits again: two more intervals.
#include <assert.h>
#include <pthread.h>

#define THREADS 2
#define ITEMS 12
#define SLOTS 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ring[SLOTS], head, count;
static long sum;

__attribute__((noinline)) static void await_room(void) {
  while (count == SLOTS) pthread_cond_wait(&changed, &lock);
}

__attribute__((noinline)) static void await_item(void) {
  while (count == 0) pthread_cond_wait(&changed, &lock);
}

static void *producer(void *arg) {
  (void)arg;
  for (int i = 1; i <= ITEMS; i++) {
    pthread_mutex_lock(&lock);
    await_room();
    ring[(head + count++) % SLOTS] = i;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void *consumer(void *arg) {
  (void)arg;
  for (int i = 1; i <= ITEMS; i++) {
    pthread_mutex_lock(&lock);
    await_item();
    sum += ring[head];
    head = (head + 1) % SLOTS;
    count--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t p[THREADS], c[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&p[i], NULL, producer, NULL);
  for (int i = 0; i < THREADS; i++) pthread_create(&c[i], NULL, consumer, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(p[i], NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(c[i], NULL);
  assert(sum == THREADS * ITEMS * (ITEMS + 1) / 2);
  return 0;
}
// cause: changed: pthread_cond_signal(&changed)
