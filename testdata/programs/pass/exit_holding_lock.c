// heddle: A worker that finds the stop flag up unlocks before it leaves by pthread_exit.
// kind: clean
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
    if (stop) {
      pthread_mutex_unlock(&lock);
      pthread_exit(NULL);
    }
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
