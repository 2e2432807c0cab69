// heddle: A consumer waits with an if where a while is needed; only a spurious wake-up shows the bug.
// kind: assertion
// finding: ready
// options: --spurious
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *producer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, producer, NULL);
  pthread_mutex_lock(&lock);
  if (!ready) pthread_cond_wait(&changed, &lock);
  assert(ready);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return 0;
}
// cause: changed: pthread_cond_wait(&changed
