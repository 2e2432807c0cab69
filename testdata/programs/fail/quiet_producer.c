// heddle: A producer checks for a waiter before it computes, and then does not signal a thread that began to wait meanwhile.
// kind: deadlock
// finding: main
// minimum: switches=3 preemptions=1
// why: main sleeps forever if it waits after the producer has looked and before it has stored the
//   result. main runs first (it creates the producer), the producer looks, main waits, and the
//   producer stores and ends: four intervals. Between its look and its store the producer takes
//   only a lock that is free, so it is left while enabled.
// executions: few
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

// The producer makes about a million accesses to memory that no other thread uses.
enum { SIZE = 512, ROUNDS = 700 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t begun;
static int waiting, done;
static unsigned block[SIZE], result;

static unsigned compute(void) {
  for (unsigned i = 0; i < SIZE; i++) block[i] = i;
  for (unsigned round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < SIZE; i++) block[i] = block[i] * 5 + block[(i * 11 + round) % SIZE];
  return block[SIZE - 1] | 1;
}

static void *producer(void *arg) {
  sem_post(&begun);
  pthread_mutex_lock(&mutex);
  int signals = waiting;
  pthread_mutex_unlock(&mutex);
  unsigned value = compute();
  pthread_mutex_lock(&mutex);
  result = value;
  done = 1;
  pthread_mutex_unlock(&mutex);
  if (signals) pthread_cond_signal(&changed);
  return arg;
}

int main(void) {
  pthread_t t;
  sem_init(&begun, 0, 0);
  pthread_create(&t, NULL, producer, NULL);
  sem_wait(&begun);
  pthread_mutex_lock(&mutex);
  while (!done) {
    waiting = 1;
    pthread_cond_wait(&changed, &mutex);
  }
  assert(result);
  pthread_mutex_unlock(&mutex);
  pthread_join(t, NULL);
  return 0;
}
// cause: waiting: signals = waiting | waiting = 1
