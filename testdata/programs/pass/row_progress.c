// heddle: Frames of an encoder wait for rows of the frame before them; a thread tests a row's progress and waits under one lock.
// kind: clean
#include <pthread.h>

#define FRAMES 3
#define ROWS 6

static struct frame {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int rows;
} frames[FRAMES];

__attribute__((noinline)) static void await_row(struct frame *f, int row) {
  pthread_mutex_lock(&f->lock);
  while (f->rows <= row) pthread_cond_wait(&f->moved, &f->lock);
  pthread_mutex_unlock(&f->lock);
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
