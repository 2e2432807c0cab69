// heddle: A worker releases the request before it reports completion, and the waiter destroys the request's lock after it has joined the worker.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct request {
  pthread_mutex_t lock;
  sem_t completed;
  int status;
};

static void *worker(void *arg) {
  struct request *r = arg;
  pthread_mutex_lock(&r->lock);
  r->status = 200;
  pthread_mutex_unlock(&r->lock);
  sem_post(&r->completed);
  return NULL;
}

int main(void) {
  pthread_t w;
  struct request *r = malloc(sizeof *r);
  pthread_mutex_init(&r->lock, NULL);
  sem_init(&r->completed, 0, 0);
  r->status = 0;
  pthread_create(&w, NULL, worker, r);
  sem_wait(&r->completed);
  pthread_mutex_lock(&r->lock);
  int status = r->status;
  pthread_mutex_unlock(&r->lock);
  pthread_join(w, NULL);
  pthread_mutex_destroy(&r->lock);
  sem_destroy(&r->completed);
  free(r);
  assert(status == 200);
  return 0;
}
