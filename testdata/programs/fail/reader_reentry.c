// heddle: A reader takes a lock again that it reads under already, while a writer waits that such locks put first.
// kind: deadlock
// minimum: switches=2 preemptions=1
// why: main runs until it joins, the reader until it reads, and then the writer until it waits: three
//   threads that each have to run. The reader was about to lock again, and could have.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock;
static int names[2] = { 1, 2 }, found;

static int lookup(int i) {
  pthread_rwlock_rdlock(&lock);
  int n = names[i];
  pthread_rwlock_unlock(&lock);
  return n;
}

static void *reader(void *arg) {
  pthread_rwlock_rdlock(&lock);
  found = lookup(0) + lookup(1);
  pthread_rwlock_unlock(&lock);
  return arg;
}

static void *writer(void *arg) {
  pthread_rwlock_wrlock(&lock);
  names[1]++;
  pthread_rwlock_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_rwlockattr_t a;
  pthread_t r, w;
  pthread_rwlockattr_init(&a);
  pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&lock, &a);
  pthread_create(&r, NULL, reader, NULL);
  pthread_create(&w, NULL, writer, NULL);
  pthread_join(r, NULL);
  pthread_join(w, NULL);
  pthread_rwlock_destroy(&lock);
  return found == 0;
}
// cause: lock: pthread_rwlock_rdlock(&lock) | pthread_rwlock_wrlock(&lock)
