// heddle: main reads the flag and waits under the lock under which the worker sets it.
// kind: clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int ready;
static int answer;

static void *worker(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  answer = 6 * 7;
  ready = 1;
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&answered);
  return NULL;
}

__attribute__((noinline)) static void wait_for_answer(void) {
  pthread_mutex_lock(&lock);
  while (!ready) pthread_cond_wait(&answered, &lock);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  pthread_t w;
  pthread_create(&w, NULL, worker, NULL);
  wait_for_answer();
  assert(answer == 42);
  pthread_join(w, NULL);
  return 0;
}
