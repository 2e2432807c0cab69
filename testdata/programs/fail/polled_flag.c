// heddle: A caller polls a flag under a lock, without ever sleeping; the worker raises it in one critical section and writes the result in the next, so the caller may see the flag without the result.
// kind: assertion
// finding: result == 42
// minimum: switches=2 preemptions=2
// why: The caller looks between the worker's two critical sections: main, the worker up to
//   there, main. Both are enabled where they are preempted, since the lock is free.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished, result;

static void *work(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  finished = 1;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  result = 42;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  for (int done = 0; !done;) {
    pthread_mutex_lock(&lock);
    done = finished;
    if (done) assert(result == 42);
    pthread_mutex_unlock(&lock);
  }
  pthread_join(t, NULL);
  return 0;
}
// cause: result: result = 42 | result == 42
