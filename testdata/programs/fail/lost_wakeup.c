// heddle: main reads a flag without the lock and then waits for the signal, which may have been sent in between.
// kind: deadlock
// finding: wait_for_answer
// minimum: switches=2 preemptions=1
// why: main reads the flag before the worker sets it and waits after the worker has signalled:
//   main, worker, main. main is left between the read and the lock, which is free.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int ready;
static int answer;

static void *worker(void *arg) {
  (void)arg;
  answer = 6 * 7;
  ready = 1;
  pthread_cond_signal(&answered);
  return NULL;
}

__attribute__((noinline)) static void wait_for_answer(void) {
  while (!ready) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  pthread_t w;
  pthread_create(&w, NULL, worker, NULL);
  wait_for_answer();
  assert(answer == 42);
  pthread_join(w, NULL);
  return 0;
}
// cause: answered: pthread_cond_signal(&answered) | pthread_cond_wait(&answered
