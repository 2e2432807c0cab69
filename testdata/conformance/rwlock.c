// heddle: Reader-writer locks of every kind, with and without time limits.
// kind: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include "say.h"

static struct timespec in(int clock, long ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static pthread_rwlock_t *l;
static const struct timespec bad = { .tv_sec = 1, .tv_nsec = -1 }, before = { .tv_sec = -1 };

static void *other(void *arg) {
  (void)arg;
  struct timespec soon = in(CLOCK_REALTIME, 2), mono = in(CLOCK_MONOTONIC, 2);
  int r = pthread_rwlock_tryrdlock(l);
  SAY(r);
  if (!r) SAY(pthread_rwlock_unlock(l));
  r = pthread_rwlock_timedrdlock(l, &soon);
  SAY(r);
  if (!r) SAY(pthread_rwlock_unlock(l));
  r = pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &mono);
  SAY(r);
  if (!r) SAY(pthread_rwlock_unlock(l));
  r = pthread_rwlock_timedrdlock(l, &before);
  SAY(r);
  if (!r) SAY(pthread_rwlock_unlock(l));
  SAY(pthread_rwlock_trywrlock(l));
  soon = in(CLOCK_REALTIME, 2), mono = in(CLOCK_MONOTONIC, 2);
  SAY(pthread_rwlock_timedwrlock(l, &soon));
  SAY(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &mono));
  SAY(pthread_rwlock_timedwrlock(l, &before));
  SAY(pthread_rwlock_timedwrlock(l, &bad));
  SAY(pthread_rwlock_timedrdlock(l, &bad));
  SAY(pthread_rwlock_clockrdlock(l, CLOCK_THREAD_CPUTIME_ID, &soon));
  SAY(pthread_rwlock_clockwrlock(l, CLOCK_BOOTTIME, &soon));
  return NULL;
}

static void elsewhere(void *(*fn)(void *)) {
  pthread_t t;
  pthread_create(&t, NULL, fn, NULL);
  pthread_join(t, NULL);
}

static void exercise(const char *name) {
  printf("== %s\n", name);
  SAY(pthread_rwlock_rdlock(l));
  SAY(pthread_rwlock_rdlock(l));
  SAY(pthread_rwlock_trywrlock(l));
  elsewhere(other);
  SAY(pthread_rwlock_unlock(l));
  SAY(pthread_rwlock_unlock(l));
  SAY(pthread_rwlock_wrlock(l));
  struct timespec soon = in(CLOCK_REALTIME, 2);
  SAY(pthread_rwlock_wrlock(l));
  SAY(pthread_rwlock_rdlock(l));
  SAY(pthread_rwlock_timedwrlock(l, &soon));
  SAY(pthread_rwlock_timedrdlock(l, &soon));
  SAY(pthread_rwlock_trywrlock(l));
  SAY(pthread_rwlock_tryrdlock(l));
  elsewhere(other);
  SAY(pthread_rwlock_unlock(l));
  SAY(pthread_rwlock_timedwrlock(l, &bad));
  soon = in(CLOCK_REALTIME, 1000);
  SAY(pthread_rwlock_timedwrlock(l, &soon));
  SAY(pthread_rwlock_unlock(l));
  SAY(pthread_rwlock_destroy(l));
}

// A reader finds a writer waiting, that the other kinds would let it overtake.
static pthread_rwlock_t fair = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static void *writer(void *arg) {
  if (pthread_rwlock_wrlock(&fair) != 0 || pthread_rwlock_unlock(&fair) != 0) puts("writer failed");
  return arg;
}
static void writers_first(void) {
  printf("== a writer waits\n");
  pthread_t t;
  SAY(pthread_rwlock_rdlock(&fair));
  pthread_create(&t, NULL, writer, NULL);
  while (pthread_rwlock_tryrdlock(&fair) == 0) {
    pthread_rwlock_unlock(&fair);
    sched_yield();
  }
  struct timespec soon = in(CLOCK_REALTIME, 2);
  SAY(pthread_rwlock_timedrdlock(&fair, &soon));
  SAY(pthread_rwlock_unlock(&fair));
  pthread_join(t, NULL);
  SAY(pthread_rwlock_rdlock(&fair));
  SAY(pthread_rwlock_unlock(&fair));
}

int main(void) {
  static pthread_rwlock_t normal = PTHREAD_RWLOCK_INITIALIZER;
  l = &normal;
  exercise("static");
  pthread_rwlockattr_t a;
  int v = -1;
  SAY(pthread_rwlockattr_init(&a));
  SAY(pthread_rwlockattr_setkind_np(&a, 17));
  SAY(pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
  SAY(pthread_rwlockattr_getpshared(&a, &v)); SAY(v);
  for (int kind = PTHREAD_RWLOCK_PREFER_READER_NP; kind <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP; kind++) {
    SAY(pthread_rwlockattr_setkind_np(&a, kind));
    SAY(pthread_rwlockattr_getkind_np(&a, &v)); SAY(v);
    pthread_rwlock_t own;
    SAY(pthread_rwlock_init(&own, &a));
    l = &own;
    exercise("initialised");
  }
  writers_first();
  return 0;
}
