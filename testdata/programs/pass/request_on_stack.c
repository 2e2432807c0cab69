// heddle: A request lives on the stack of the function that waits for it; the server signals the request's condition while it holds the lock.
// kind: clean
#include <pthread.h>

struct request {
  pthread_mutex_t lock;
  pthread_cond_t served;
  int done;
};

static struct request *_Atomic posted;

static void *server(void *arg) {
  struct request *r = posted;
  pthread_mutex_lock(&r->lock);
  r->done = 1;
  pthread_cond_signal(&r->served);
  pthread_mutex_unlock(&r->lock);
  return arg;
}

static __attribute__((noinline)) void call(pthread_t *t) {
  struct request r = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
  posted = &r;
  pthread_create(t, NULL, server, NULL);
  pthread_mutex_lock(&r.lock);
  while (!r.done) pthread_cond_wait(&r.served, &r.lock);
  pthread_mutex_unlock(&r.lock);
}

int main(void) {
  pthread_t t;
  call(&t);
  pthread_join(t, NULL);
  return 0;
}
