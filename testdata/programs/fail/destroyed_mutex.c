// heddle: A worker reports completion while it still holds the request's lock, and the waiter destroys the lock at once.
// kind: misuse
// finding: destroy
// minimum: switches=2 preemptions=1
// why: main starts the worker, the worker posts, main destroys: three intervals. main waits in
//   sem_wait when it is left first; the worker is left between sem_post and unlock, which is
//   never blocked.
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
  sem_post(&r->completed);
  pthread_mutex_unlock(&r->lock);
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
  pthread_mutex_destroy(&r->lock);
  assert(r->status == 200);
  pthread_join(w, NULL);
  sem_destroy(&r->completed);
  free(r);
  return 0;
}
// cause: lock: pthread_mutex_unlock(&r->lock) | pthread_mutex_destroy(&r->lock)
