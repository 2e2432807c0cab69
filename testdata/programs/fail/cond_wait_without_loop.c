// heddle: A worker waits for a job with `if` instead of `while`; a second worker can take the job between the signal and the waking.
// kind: assertion
// finding: queue.count > 0
// minimum: switches=4 preemptions=2
// why: The worker that fails waits before main's first job is in, and wakes after the other worker
//   took that job: worker, main, other worker, worker, with main's start before them. main is
//   preempted twice: before the first job, and between the first and the second
//   (with both jobs in the queue no thread finds it empty).
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
  if (queue.count == 0) pthread_cond_wait(&queue.not_empty, &queue.lock);
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
// cause: queue: if (queue.count == 0) pthread_cond_wait
