// heddle: A reader is cancelled while it waits for a page with the cache's lock held, and has no cleanup handler.
// kind: deadlock
// finding: main
// minimum: switches=4 preemptions=0
// why: main waits for the disk, cancels the reader and waits for it, and finds the lock taken: main,
//   disk, main, reader, main. Each was left where it had to wait or had ended.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t page;
static int cached;

static void *reader(void *arg) {
  pthread_mutex_lock(&lock);
  if (!cached) {
    sem_wait(&page); // a cancellation point
    cached = 1;
  }
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *disk(void *arg) {
  sem_post(&page);
  return arg;
}

int main(void) {
  pthread_t r, d;
  sem_init(&page, 0, 0);
  pthread_create(&r, NULL, reader, NULL);
  pthread_create(&d, NULL, disk, NULL);
  pthread_join(d, NULL);
  pthread_cancel(r); // too late, nearly always
  pthread_join(r, NULL);
  pthread_mutex_lock(&lock);
  cached = 0;
  pthread_mutex_unlock(&lock);
  sem_destroy(&page);
  return 0;
}
// cause: page: sem_wait(&page)
