// heddle: A producer hands a block over in a slot without the lock, so its signal can come between the consumer's look at the slot and its wait; a third thread, which shows progress, polls a flag that the consumer would set.
// kind: hang
// finding: progress
// minimum: switches=3 preemptions=1
// why: Main must have found the slot empty before the producer fills it, and wait after the signal: it is preempted
//   between the two, the producer ends, and main waits. The progress thread, which has not begun, never ends.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int *volatile slot; // the write of a pointer is a scheduling point, whose value a replay must show again
static volatile int done;

static void *produce(void *arg) {
  int *block = malloc(sizeof *block);
  *block = 7;
  slot = block;
  pthread_cond_signal(&filled);
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
// cause: filled: pthread_cond_signal(&filled) | pthread_cond_wait(&filled
