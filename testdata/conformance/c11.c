// heddle: C11 threads, with result codes of their own.
// kind: clean
#define _GNU_SOURCE
#include <threads.h>
#include <time.h>
#include "say.h"

static mtx_t m;
static cnd_t c;
static int stage;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;

static void destroy(void *v) { printf("destroy %s\n", (char *)v); }
static void initialise(void) { puts("once"); }

static int busy(void *arg) {
  (void)arg;
  struct timespec ts;
  timespec_get(&ts, TIME_UTC);
  ts.tv_nsec = 0; // gone
  SAY(mtx_trylock(&m) == thrd_busy);
  SAY(mtx_timedlock(&m, &ts) == thrd_timedout);
  ts.tv_nsec = -1;
  SAY(mtx_timedlock(&m, &ts) == thrd_error);
  return -5;
}

static int exits(void *arg) {
  SAY(tss_set(key, arg) == thrd_success);
  SAY(tss_get(key) == arg);
  call_once(&once, initialise);
  thrd_exit(300);
}

static int waits(void *arg) {
  mtx_lock(&m);
  stage = 1;
  cnd_signal(&c);
  while (stage < 2)
    if (cnd_wait(&c, &m) != thrd_success) puts("wait failed");
  mtx_unlock(&m);
  return *(int *)arg;
}

static int returns(void *arg) { return *(int *)arg; }

static void kinds(int type) {
  thrd_t t;
  int r = 0;
  SAY(mtx_init(&m, type) == thrd_success);
  SAY(mtx_lock(&m) == thrd_success);
  if (type & mtx_recursive) {
    SAY(mtx_trylock(&m) == thrd_success);
    SAY(mtx_lock(&m) == thrd_success);
    mtx_unlock(&m);
    mtx_unlock(&m);
  } else {
    SAY(mtx_trylock(&m) == thrd_busy);
  }
  MUST(thrd_create(&t, busy, NULL));
  SAY(thrd_join(t, &r) == thrd_success);
  SAY(r == -5);
  SAY(mtx_unlock(&m) == thrd_success);
  if (type & mtx_recursive) SAY(mtx_unlock(&m) == thrd_error);
  mtx_destroy(&m);
}

int main(void) {
  thrd_t t;
  int r = 0, seven = 7;
  kinds(mtx_plain);
  kinds(mtx_timed);
  kinds(mtx_plain | mtx_recursive);
  kinds(mtx_timed | mtx_recursive);
  SAY(mtx_init(&m, mtx_timed) == thrd_success);
  SAY(cnd_init(&c) == thrd_success);
  MUST(thrd_create(&t, waits, &seven));
  mtx_lock(&m);
  while (stage < 1) cnd_wait(&c, &m);
  struct timespec ts;
  timespec_get(&ts, TIME_UTC);
  ts.tv_nsec = 0;
  SAY(cnd_timedwait(&c, &m, &ts) == thrd_timedout);
  ts.tv_nsec = 1000000000;
  SAY(cnd_timedwait(&c, &m, &ts) == thrd_error);
  stage = 2;
  SAY(cnd_broadcast(&c) == thrd_success);
  mtx_unlock(&m);
  SAY(thrd_join(t, &r) == thrd_success);
  SAY(r);
  cnd_destroy(&c);
  mtx_destroy(&m);

  SAY(tss_create(&key, destroy) == thrd_success);
  MUST(thrd_create(&t, exits, "value"));
  SAY(thrd_join(t, &r) == thrd_success);
  SAY(r);
  call_once(&once, initialise);
  tss_delete(key);
  MUST(thrd_create(&t, returns, &seven));
  SAY(thrd_detach(t) == thrd_success);
  ts = (struct timespec){ .tv_nsec = 1000 };
  SAY(thrd_sleep(&ts, NULL));
  ts.tv_nsec = -1;
  SAY(thrd_sleep(&ts, NULL) < 0);
  thrd_yield();
  SAY(thrd_equal(thrd_current(), thrd_current()) != 0);
  return 0;
}
