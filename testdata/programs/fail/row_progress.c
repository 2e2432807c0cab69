// heddle: Frames of an encoder wait for rows of the frame before them; a thread tests a row's progress before it takes the lock under which the progress is signalled, and misses the last signal.
// kind: deadlock
// finding: await_row
// minimum: switches=5 preemptions=1
// why: The first frame's thread always ends, so main, which created it, runs again to wait for the
//   next one. A thread is left between its test and its wait until the last signal is past, and the
//   third thread must have begun to wait: six intervals.
#include <pthread.h>

#define FRAMES 3
#define ROWS 6

static struct frame {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int rows;
} frames[FRAMES];

__attribute__((noinline)) static int rows_of(struct frame *f) {
  pthread_mutex_lock(&f->lock);
  int n = f->rows;
  pthread_mutex_unlock(&f->lock);
  return n;
}

__attribute__((noinline)) static void await_row(struct frame *f, int row) {
  while (rows_of(f) <= row) {
    pthread_mutex_lock(&f->lock);
    pthread_cond_wait(&f->moved, &f->lock); /* wrong: the row may be there by now */
    pthread_mutex_unlock(&f->lock);
  }
}

__attribute__((noinline)) static void row_done(struct frame *f) {
  pthread_mutex_lock(&f->lock);
  f->rows++;
  pthread_cond_broadcast(&f->moved);
  pthread_mutex_unlock(&f->lock);
}

static void *encode(void *arg) {
  struct frame *f = arg;
  for (int r = 0; r < ROWS; r++) {
    if (f != frames) await_row(f - 1, r);
    row_done(f);
  }
  return NULL;
}

int main(void) {
  pthread_t t[FRAMES];
  for (int i = 0; i < FRAMES; i++) {
    pthread_mutex_init(&frames[i].lock, NULL);
    pthread_cond_init(&frames[i].moved, NULL);
  }
  for (int i = 0; i < FRAMES; i++) pthread_create(&t[i], NULL, encode, &frames[i]);
  for (int i = 0; i < FRAMES; i++) pthread_join(t[i], NULL);
  return 0;
}
// cause: moved: pthread_cond_broadcast(&f->moved) | pthread_cond_wait(&f->moved
