// heddle: A worker waits for a job in a loop that checks the queue again after every wake-up.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define JOBS 2

static struct {
  pthread_mutex_t lock;
  pthread_cond_t not_empty;
  int jobs[JOBS];
  int count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static void put(int job) {
  pthread_mutex_lock(&queue.lock);
  queue.jobs[queue.count++] = job;
  pthread_cond_signal(&queue.not_empty);
  pthread_mutex_unlock(&queue.lock);
}

static int take(void) {
  pthread_mutex_lock(&queue.lock);
  while (queue.count == 0) pthread_cond_wait(&queue.not_empty, &queue.lock);
  assert(queue.count > 0);
  int job = queue.jobs[--queue.count];
  pthread_mutex_unlock(&queue.lock);
  return job;
}

static void *worker(void *arg) {
  *(int *)arg = take();
  return NULL;
}

int main(void) {
  pthread_t workers[2];
  static int done[2];
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, worker, &done[i]);
  put(10);
  put(20);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  assert(done[0] + done[1] == 30);
  return 0;
}
