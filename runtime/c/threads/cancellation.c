// cancellation.c: requests to cancel a thread, and whether it allows them. core/cancellation.c
// decides when it acts on a request.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/cancellation.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/threads.h"

// pthread.h declares them only for code that is compiled without exceptions.
extern void __pthread_register_cancel_defer(__pthread_unwind_buf_t *);
extern void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t *);

HD_INTERPOSE(int, pthread_cancel, (pthread_t id), (id)) {
  static const char nobody[] = "pthread_cancel of an identifier that names no thread";
  struct hd_thread *u = hd_thread_of(id);
  if (!u || u->joined) hd_misuse(HD_RA, id, nobody);
  u->referred++;
  struct hd_thread *t = hd_op(HD_OP_CANCEL, HD_RA, id);
  u->referred--;
  if (u->joined || (u->ended && u->detached)) hd_misuse(HD_RA, id, nobody);
  u->cancel |= HD_CANCEL_PENDING;
  hd_progress(t);
  hd_commit(t, u->number, 0);
  if (hd_has(&hd.needers, u->index) && hd_enabled(u)) hd_add(&hd.enabled, u->index);
  if (u == t && t->cancel & HD_CANCEL_ASYNC && hd_cancel_due(t)) hd_cancel_act(t);
  return 0;
}

// A test that cannot find a request is not an operation.
static void test(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (t->cancel & (HD_CANCEL_DISABLED | HD_CANCEL_LEAVING)) return;
  hd_pend(t, HD_OP_CANCEL_TEST, pc, t->fs);
  hd_point_cancel(t);
  hd_commit(t, 0, 0);
  hd_observe(t, pc, 0);
}

HD_INTERPOSE(void, pthread_testcancel, (void), ()) { test(HD_RA); }

static void change(uint8_t bit, bool on, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  t->cancel = (uint8_t)(on ? t->cancel | bit : t->cancel & ~bit);
  if (t->cancel & HD_CANCEL_ASYNC && hd_cancel_due(t)) test(pc);
}

HD_INTERPOSE(int, pthread_setcancelstate, (int state, int *old), (state, old)) {
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  int was = hd.cur->cancel & HD_CANCEL_DISABLED ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
  if (old) *old = was;
  change(HD_CANCEL_DISABLED, state == PTHREAD_CANCEL_DISABLE, HD_RA);
  return 0;
}

// libc stores the type too, for the next two functions.
HD_EXPORT int pthread_setcanceltype(int type, int *old) {
  int err = REAL(pthread_setcanceltype)(type, old);
  if (err == 0 && hd_active()) change(HD_CANCEL_ASYNC, type == PTHREAD_CANCEL_ASYNCHRONOUS, HD_RA);
  return err;
}

// pthread_cleanup_push_defer_np and pthread_cleanup_pop_restore_np in C.
HD_EXPORT void __pthread_register_cancel_defer(__pthread_unwind_buf_t *buf) {
  REAL(__pthread_register_cancel_defer)(buf);
  if (hd_active()) change(HD_CANCEL_ASYNC, false, HD_RA);
}

HD_EXPORT void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t *buf) {
  REAL(__pthread_unregister_cancel_restore)(buf);
  if (!hd_active()) return;
  int type, same;
  REAL(pthread_setcanceltype)(PTHREAD_CANCEL_DEFERRED, &type);
  REAL(pthread_setcanceltype)(type, &same);
  change(HD_CANCEL_ASYNC, type == PTHREAD_CANCEL_ASYNCHRONOUS, HD_RA);
}
