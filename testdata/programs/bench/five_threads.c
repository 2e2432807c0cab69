// heddle: Four workers count under one mutex and meet at a barrier; 83 scheduling points, main included. The measure of short executions.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define WORKERS 4
#define ROUNDS 7

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t finish;
static int count;

static void *worker(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
  }
  pthread_barrier_wait(&finish);
  return NULL;
}

int main(void) {
  pthread_t workers[WORKERS];
  pthread_barrier_init(&finish, NULL, WORKERS);
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, worker, NULL);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  pthread_barrier_destroy(&finish);
  assert(count == WORKERS * ROUNDS);
  return 0;
}
