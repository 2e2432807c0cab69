// heddle: A mutex, a condition, a semaphore, a lock and a descriptor end while another thread may still use them. With FIX, uses and ends are ordered.
// kind: race
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

// The last user frees an object: POSIX lets it destroy a mutex that it has just unlocked.
struct counted { pthread_mutex_t lock; int users; };

static void *leave(void *arg) {
  struct counted *c = arg;
  pthread_mutex_lock(&c->lock);
  int left = --c->users;
  pthread_mutex_unlock(&c->lock);
#ifdef FIX
  if (left) return NULL;
  pthread_mutex_destroy(&c->lock);
  free(c);
#else
  if (left) pthread_mutex_destroy(&c->lock); // the other thread may still come
#endif
  return NULL;
}

// The waiter destroys the condition.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done;
static int finished;

static void *finish(void *arg) {
  pthread_mutex_lock(&lock);
  finished = 1;
#ifdef FIX
  pthread_cond_signal(&done);
#endif
  pthread_mutex_unlock(&lock);
#ifndef FIX
  pthread_cond_signal(&done);
#endif
  return arg;
}

// The last waiting thread destroys the semaphore and the lock, or the barrier.
static sem_t posted;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock;

static void *post(void *arg) {
#ifdef FIX
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
#endif
  sem_post(&posted);
#ifndef FIX
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  sem_post(&posted);
#endif
  return arg;
}

static void *meet(void *arg) {
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) pthread_barrier_destroy(&barrier);
  return arg;
}

// A read orders what the eventfd's writer did before; reopen uses a number that another thread has closed.
static int wakes, told;

static void *tell(void *arg) {
  uint64_t one = 1;
#ifdef FIX
  if (write(told, &one, sizeof one) < 0) abort();
#endif
  if (write(wakes, &one, sizeof one) < 0) return NULL;
  return arg;
}

static void *reopen(void *arg) {
  int fd = eventfd(0, 0);
  uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) abort();
  close(fd);
  return arg;
}

int main(void) {
  pthread_t t[2];
  uint64_t n;
  struct counted *c = calloc(1, sizeof *c);
  pthread_mutex_init(&c->lock, NULL);
  c->users = 2;
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, leave, c);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);

  pthread_cond_init(&done, NULL);
  pthread_create(&t[0], NULL, finish, NULL);
  pthread_mutex_lock(&lock);
  while (!finished) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
  pthread_cond_destroy(&done);
  pthread_join(t[0], NULL);

  sem_init(&posted, 0, 0);
  pthread_rwlock_init(&rwlock, NULL);
  pthread_create(&t[0], NULL, post, NULL);
  sem_wait(&posted);
  pthread_rwlock_destroy(&rwlock);
  sem_destroy(&posted);
  pthread_join(t[0], NULL);

  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, meet, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);

  wakes = eventfd(0, 0);
  told = eventfd(0, 0);
  pthread_create(&t[0], NULL, tell, NULL);
#ifdef FIX
  if (read(wakes, &n, sizeof n) < 0) abort();
#endif
  close(wakes);
  pthread_join(t[0], NULL);
  if (read(told, &n, sizeof n) < 0) abort();
  close(told);

  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, reopen, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
