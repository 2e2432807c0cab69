// heddle: A producer hands a block over in a slot and signals with the lock held; a third thread, which shows progress, polls a flag that the consumer sets.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int *slot;
static atomic_int done;

static void *produce(void *arg) {
  int *block = malloc(sizeof *block);
  *block = 7;
  pthread_mutex_lock(&lock);
  slot = block;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *progress(void *arg) {
  while (!done) usleep(250000);
  return arg;
}

int main(void) {
  pthread_t p, b;
  pthread_create(&b, 0, progress, 0);
  pthread_create(&p, 0, produce, 0);
  pthread_mutex_lock(&lock);
  while (!slot) pthread_cond_wait(&filled, &lock);
  pthread_mutex_unlock(&lock);
  free(slot);
  done = 1;
  pthread_join(p, 0);
  pthread_join(b, 0);
  return 0;
}
