// heddle: A request lives on the stack of the function that waits for it; the server signals the request's condition after it has released the lock.
// kind: misuse
// finding: use after return
// minimum: switches=3 preemptions=2
// why: main must find the request served without waiting for the signal, so it is left before it locks, which is a preemption. The
//   server is left between unlock and signal, which is the other; neither blocks. main returns from the function and waits for the
//   server's end, and the server goes on: main, server, main, server.
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
  pthread_mutex_unlock(&r->lock);
  pthread_cond_signal(&r->served);
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
// cause: r: pthread_mutex_unlock(&r.lock) | pthread_cond_signal
