// c11.c: C11 threads (threads.h): the same objects as POSIX's, with result codes of their
// own. glibc lays out the types of both alike.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include "core/libc.h"
#include "threads/threads.h"
#include "time/time.h"
#include "sync/sync.h"

static int code(int err) {
  switch (err) {
  case 0: return thrd_success;
  case ENOMEM: return thrd_nomem;
  case ETIMEDOUT: return thrd_timedout;
  case EBUSY: return thrd_busy;
  default: return thrd_error;
  }
}

// ---- threads
//
// The start routine returns int: thrd_join drops the upper bits of the register.
HD_INTERPOSE_WHILE(hd_before_main() || hd_threads_controlled(), int, thrd_create, (thrd_t *id, thrd_start_t entry, void *arg), (id, entry, arg)) {
  void *(*start)(void *) = (void *(*)(void *))(void *)entry;
  return code(hd_active() ? hd_thread_create(id, NULL, start, arg, HD_RA) : hd_early_create(id, NULL, start, arg, HD_RA));
}

HD_INTERPOSE_WHILE(hd_before_main() || hd_active(), int, thrd_join, (thrd_t id, int *result), (id, result)) {
  if (!hd_active()) hd_early_join();
  void *ret;
  int err = hd_thread_join(id, &ret, HD_RA, NULL, false);
  if (err == 0 && result) *result = (int)(uintptr_t)ret;
  return code(err);
}

HD_INTERPOSE_WHILE(hd_before_main() || hd_active(), int, thrd_detach, (thrd_t id), (id)) {
  return code(hd_active() ? hd_thread_detach(id, HD_RA) : hd_early_detach(id));
}

HD_EXPORT void thrd_exit(int result) {
  if (hd_active()) hd_thread_exit((void *)(uintptr_t)result, HD_RA);
  REAL(thrd_exit)(result);
  __builtin_unreachable();
}

HD_INTERPOSE(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest)) {
  switch (hd_sleep(time, rest, HD_RA)) {
  case 0: return 0;
  case EINTR: return -1;
  default: return -2;
  }
}

HD_EXPORT void thrd_yield(void) {
  if (hd_active()) hd_yield(HD_RA);
  else REAL(sched_yield)();
}

// ---- mutexes
HD_INTERPOSE(int, mtx_init, (mtx_t *m, int type), (m, type)) {
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  if (type & mtx_recursive) pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  return code(hd_mutex_init(m, &attr, HD_RA));
}

HD_INTERPOSE(void, mtx_destroy, (mtx_t *m), (m)) { hd_mutex_destroy(m, HD_RA); }
HD_INTERPOSE(int, mtx_lock, (mtx_t *m), (m)) { return code(hd_mutex_lock(m, HD_RA, HD_OP_MUTEX_LOCK, NULL)); }
HD_INTERPOSE(int, mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict abs), (m, abs)) {
  return code(hd_mutex_timedlock(m, CLOCK_REALTIME, abs, HD_RA));
}
HD_INTERPOSE(int, mtx_trylock, (mtx_t *m), (m)) { return code(hd_mutex_trylock(m, HD_RA)); }
HD_INTERPOSE(int, mtx_unlock, (mtx_t *m), (m)) { return code(hd_mutex_unlock(m, HD_RA)); }

// ---- condition variables
HD_INTERPOSE(int, cnd_init, (cnd_t *c), (c)) { return code(hd_cond_init(c, NULL, HD_RA)); }
HD_INTERPOSE(void, cnd_destroy, (cnd_t *c), (c)) { hd_cond_destroy(c, HD_RA); }
HD_INTERPOSE(int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m)) { return code(hd_cond_wait(c, m, HD_RA)); }
HD_INTERPOSE(int, cnd_timedwait, (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict abs), (c, m, abs)) {
  return code(hd_cond_timedwait(c, m, CLOCK_REALTIME, abs, HD_RA));
}
HD_INTERPOSE(int, cnd_signal, (cnd_t *c), (c)) { return code(hd_cond_signal(c, HD_RA)); }
HD_INTERPOSE(int, cnd_broadcast, (cnd_t *c), (c)) { return code(hd_cond_broadcast(c, HD_RA)); }

// ---- thread-specific storage, once
HD_EXPORT int tss_create(tss_t *key, tss_dtor_t dtor) { return code(pthread_key_create(key, dtor)); }
HD_EXPORT void tss_delete(tss_t key) { pthread_key_delete(key); }

HD_EXPORT void call_once(once_flag *once, void (*fn)(void)) {
  if (hd_active()) hd_once(&once->__data, fn, HD_RA);
  else REAL(pthread_once)(&once->__data, fn);
}
