// heddle: What constructors see agrees with what main sees: clocks do not go back, random numbers are the same in every execution, and the locks that a constructor holds are main's.
// kind: clean
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

static struct timespec began, began_real;
static struct timeval began_day;
static uint64_t drawn;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t read_held = PTHREAD_RWLOCK_INITIALIZER, write_held = PTHREAD_RWLOCK_INITIALIZER;
static int ready;

__attribute__((constructor)) static void before(void) {
  assert(clock_gettime(CLOCK_MONOTONIC, &began) == 0 && clock_gettime(CLOCK_REALTIME, &began_real) == 0);
  assert(gettimeofday(&began_day, NULL) == 0);
  assert(getrandom(&drawn, sizeof drawn, 0) == sizeof drawn);
  assert(pthread_mutex_lock(&plain) == 0 && pthread_mutex_lock(&checked) == 0);
  assert(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
  assert(pthread_rwlock_rdlock(&read_held) == 0 && pthread_rwlock_wrlock(&write_held) == 0);
  assert(pthread_rwlock_trywrlock(&read_held) == EBUSY && pthread_rwlock_tryrdlock(&read_held) == 0 && pthread_rwlock_unlock(&read_held) == 0);
}

static int64_t since(struct timespec a, struct timespec b) { return (b.tv_sec - a.tv_sec) * 1000000000ll + (b.tv_nsec - a.tv_nsec); }

static void *work(void *arg) {
  pthread_mutex_lock(&plain);
  assert(ready);
  pthread_mutex_unlock(&plain);
  assert(pthread_rwlock_wrlock(&read_held) == 0 && pthread_rwlock_unlock(&read_held) == 0);
  return arg;
}

int main(void) {
  struct timespec now;
  struct timeval day;
  assert(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && since(began, now) >= 0 && since(began, now) < 1000000000);
  assert(clock_gettime(CLOCK_REALTIME, &now) == 0 && since(began_real, now) >= 0 && since(began_real, now) < 1000000000);
  assert(gettimeofday(&day, NULL) == 0 && timercmp(&began_day, &day, <=));
  printf("%llx\n", (unsigned long long)drawn); // the same in every process

  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  ready = 1;
  assert(pthread_mutex_unlock(&plain) == 0 && pthread_mutex_unlock(&checked) == 0 && pthread_mutex_unlock(&checked) == EPERM);
  assert(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == EPERM);
  assert(pthread_rwlock_unlock(&read_held) == 0 && pthread_rwlock_unlock(&write_held) == 0);
  pthread_join(t, NULL);
  return 0;
}
