// heddle: A worker that finds the stop flag up leaves by pthread_exit and takes the lock with it to its end.
// kind: deadlock
// finding: batches_done
// minimum: switches=4 preemptions=1
// why: main raises the flag after the first batch, the worker sees it, and main then takes the
//   lock: main, worker, main, worker, main. main waits where it is left (for the first batch,
//   then in its join) and the worker ends; but the worker is left once between the first batch
//   and the look at the flag, where the lock it wants is free.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define BATCHES 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t first_batch;
static int stop;
static int batches;

static void *worker(void *arg) {
  (void)arg;
  for (int i = 0; i < BATCHES; i++) {
    pthread_mutex_lock(&lock);
    if (stop) pthread_exit(NULL);
    batches++;
    pthread_mutex_unlock(&lock);
    if (i == 0) sem_post(&first_batch);
  }
  return NULL;
}

__attribute__((noinline)) static int batches_done(void) {
  pthread_mutex_lock(&lock);
  int n = batches;
  pthread_mutex_unlock(&lock);
  return n;
}

int main(void) {
  pthread_t w;
  sem_init(&first_batch, 0, 0);
  pthread_create(&w, NULL, worker, NULL);
  sem_wait(&first_batch);
  pthread_mutex_lock(&lock);
  stop = 1;
  pthread_mutex_unlock(&lock);
  pthread_join(w, NULL);
  assert(batches_done() >= 1);
  sem_destroy(&first_batch);
  return 0;
}
// cause: stop: if (stop) | stop = 1
