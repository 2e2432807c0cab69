// heddle: Every kind of mutex, what each call returns, and the attributes that are given back.
// kind: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include "say.h"

static struct timespec in(long ms) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static pthread_mutex_t *m;
static bool inherits; // then the kernel takes a time before 1970 for an error
static const struct timespec bad = { .tv_sec = 1, .tv_nsec = 1000000000 }, before = { .tv_sec = -1 };

static void *other(void *arg) {
  (void)arg;
  struct timespec soon = in(2);
  SAY(pthread_mutex_trylock(m));
  SAY(pthread_mutex_timedlock(m, &soon));
  SAY(pthread_mutex_timedlock(m, &bad));
  if (!inherits) {
    SAY(pthread_mutex_timedlock(m, &before));
    SAY(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &before));
  }
  SAY(pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &soon));
  return NULL;
}

static void elsewhere(void *(*fn)(void *)) {
  pthread_t t;
  pthread_create(&t, NULL, fn, NULL);
  pthread_join(t, NULL);
}

static void *unlock_elsewhere(void *arg) {
  (void)arg;
  SAY(pthread_mutex_unlock(m));
  return NULL;
}

static void *lock_and_end(void *arg) {
  SAY(pthread_mutex_lock(m));
  if (arg) SAY(pthread_mutex_lock(m));
  return NULL;
}

// again: what a second lock by the same thread may be asked. errors: unlocks by others fail.
static void exercise(const char *name, bool again, bool errors) {
  printf("== %s\n", name);
  SAY(pthread_mutex_lock(m));
  SAY(pthread_mutex_trylock(m));
  if (again) {
    struct timespec soon = in(2);
    SAY(pthread_mutex_lock(m));
    SAY(pthread_mutex_timedlock(m, &soon));
    SAY(pthread_mutex_timedlock(m, &bad));
  }
  elsewhere(other);
  if (errors) elsewhere(unlock_elsewhere);
  SAY(pthread_mutex_unlock(m));
  if (errors) {
    for (int i = 0; i < 5; i++) SAY(pthread_mutex_unlock(m));
  }
  SAY(pthread_mutex_timedlock(m, &bad)); // free: nothing to wait for
  SAY(pthread_mutex_unlock(m));
  SAY(pthread_mutex_consistent(m));
}

static void robust(int type) {
  pthread_mutexattr_t a;
  pthread_mutex_t own;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, type);
  SAY(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
  int got = -1;
  SAY(pthread_mutexattr_getrobust(&a, &got));
  SAY(got);
  m = &own;
  SAY(pthread_mutex_init(m, &a));
  exercise("robust", type != PTHREAD_MUTEX_NORMAL, true);
  // Put right by the next owner.
  elsewhere(lock_and_end);
  SAY(pthread_mutex_lock(m));
  SAY(pthread_mutex_consistent(m));
  SAY(pthread_mutex_consistent(m));
  SAY(pthread_mutex_unlock(m));
  SAY(pthread_mutex_lock(m));
  SAY(pthread_mutex_unlock(m));
  // It dies twice.
  elsewhere(lock_and_end);
  elsewhere(lock_and_end);
  struct timespec soon = in(2);
  SAY(pthread_mutex_timedlock(m, &soon));
  SAY(pthread_mutex_consistent(m));
  SAY(pthread_mutex_unlock(m));
  // Through trylock, and not put right.
  elsewhere(lock_and_end);
  SAY(pthread_mutex_trylock(m));
  SAY(pthread_mutex_unlock(m));
  SAY(pthread_mutex_lock(m)); // no trylock: glibc 2.36 then keeps the mutex, though it says otherwise
  soon = in(2);
  SAY(pthread_mutex_timedlock(m, &soon));
  elsewhere(lock_and_end);
  SAY(pthread_mutex_consistent(m));
  SAY(pthread_mutex_unlock(m));
  SAY(pthread_mutex_destroy(m));
}

// A condition wait takes a robust mutex again, whose owner has died meanwhile.
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, step;
static void *waiter(void *arg) {
  (void)arg;
  SAY(pthread_mutex_lock(m));
  waiting = 1;
  int r = 0;
  while (!step && r == 0) r = pthread_cond_wait(&cond, m);
  SAY(r);
  SAY(pthread_mutex_consistent(m));
  SAY(pthread_mutex_unlock(m));
  return NULL;
}
static void *signal_and_end(void *arg) {
  (void)arg;
  for (int seen = 0; !seen;) {
    pthread_mutex_lock(m);
    seen = waiting;
    if (!seen) pthread_mutex_unlock(m);
  }
  step = 1;
  SAY(pthread_cond_signal(&cond));
  return NULL; // with the mutex
}

static void robust_wait(void) {
  pthread_mutexattr_t a;
  pthread_mutex_t own;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  m = &own;
  pthread_mutex_init(m, &a);
  pthread_t t, u;
  pthread_create(&t, NULL, waiter, NULL);
  pthread_create(&u, NULL, signal_and_end, NULL);
  pthread_join(u, NULL);
  pthread_join(t, NULL);
  SAY(pthread_mutex_destroy(m));
}

static void attributes(void) {
  pthread_mutexattr_t a;
  int v = -1;
  SAY(pthread_mutexattr_init(&a));
  SAY(pthread_mutexattr_settype(&a, 17));
  SAY(pthread_mutexattr_gettype(&a, &v)); SAY(v);
  SAY(pthread_mutexattr_setprotocol(&a, 17));
  for (int p = PTHREAD_PRIO_NONE; p <= PTHREAD_PRIO_PROTECT; p++) {
    SAY(pthread_mutexattr_setprotocol(&a, p));
    SAY(pthread_mutexattr_getprotocol(&a, &v)); SAY(v);
  }
  SAY(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
  SAY(pthread_mutexattr_getpshared(&a, &v)); SAY(v);
  SAY(pthread_mutexattr_setprioceiling(&a, 0));
  SAY(pthread_mutexattr_setprioceiling(&a, 12));
  SAY(pthread_mutexattr_getprioceiling(&a, &v)); SAY(v);
  SAY(pthread_mutexattr_setrobust(&a, 17));
  pthread_mutex_t own;
  SAY(pthread_mutex_init(&own, &a));
  SAY(pthread_mutex_getprioceiling(&own, &v)); SAY(v);
  SAY(pthread_mutex_setprioceiling(&own, 0, &v));
  SAY(pthread_mutex_destroy(&own));
  pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
  SAY(pthread_mutex_init(&own, &a));
  SAY(pthread_mutex_getprioceiling(&own, &v));
  m = &own;
  inherits = true;
  exercise("priority inheritance", false, false);
  SAY(pthread_mutexattr_destroy(&a));
}

int main(void) {
  static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
    recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  m = &normal; exercise("normal", false, false);
  m = &errorcheck; exercise("error checking", true, true);
  m = &recursive; exercise("recursive", true, true);
  m = &adaptive; exercise("adaptive", false, false);
  for (int type = PTHREAD_MUTEX_NORMAL; type <= PTHREAD_MUTEX_ERRORCHECK; type++) robust(type);
  robust_wait();
  attributes();

  // The count of a recursive mutex has an end.
  m = &recursive;
  SAY(pthread_mutex_lock(m));
  recursive.__data.__count = UINT32_MAX - 1;
  SAY(pthread_mutex_lock(m));
  SAY(pthread_mutex_lock(m));
  SAY(pthread_mutex_trylock(m));
  recursive.__data.__count = 1;
  SAY(pthread_mutex_unlock(m));
  SAY(pthread_mutex_destroy(m));
  return 0;
}
