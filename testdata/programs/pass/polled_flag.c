// heddle: A caller polls a flag under a lock, without ever sleeping; the worker writes the result and raises the flag in one critical section.
// kind: clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished, result;

static void *work(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  result = 42;
  finished = 1;
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
