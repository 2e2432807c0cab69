// cancellation.c: cancellation points. A request sets a flag on a thread, which acts on it at a
// cancellation point: an operation it reaches, or one it is blocked in. libc then unwinds the
// thread as in pthread_exit, so the program's cleanup handlers, in either form, and C++
// destructors run as they would without heddle.
//
// With the asynchronous type a thread also acts on a request when it reaches a lock, blocks on
// one or yields (the runtime forces a yield after many accesses without an operation), but
// nowhere else.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "arch/context.h"
#include "core/cancellation.h"
#include "core/libc.h"
#include "core/registration.h"
#include "core/sched.h"
#include "core/side_stack.h"

bool hd_cancel_interrupts(const struct hd_thread *u) {
  return hd_cancel_due(u) && (u->wait.cancelable || (u->cancel & HD_CANCEL_ASYNC && hd_operations[u->pend.op]->async_cancel));
}

static void leave(int sig, void *info, void *context) {
  (void)sig; (void)info; (void)context;
  REAL(pthread_exit)(hd.cur->ret);
}

void hd_unwind(struct hd_thread *t, void *ret) {
  t->cancel |= HD_CANCEL_LEAVING;
  t->ret = ret;
  uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
  if (hd_on_side(sp)) { // libc calls the program's cleanup handlers
    uintptr_t at = (hd_program_sp() - HD_RED_ZONE) & ~15ull;
    hd_side_below(sp);
    hd_call_on(at, (void *)leave, 0, NULL, NULL);
  }
  leave(0, NULL, NULL);
  __builtin_unreachable();
}

void hd_cancel_act(struct hd_thread *t) { hd_unwind(t, PTHREAD_CANCELED); }

bool hd_cancel_point(struct hd_thread *t) {
  t->wait.cancelable = true;
  hd_point(t);
  t->wait.cancelable = false;
  return hd_cancel_due(t);
}

void hd_point_cancel(struct hd_thread *t) {
  if (!hd_cancel_point(t)) return;
  hd_commit(t, 0, ECANCELED);
  hd_cancel_act(t);
}

void hd_cancel_async(struct hd_thread *t) {
  if (t->wait.cancelable || !hd_cancel_due(t) || !hd_operations[t->pend.op]->async_cancel) return;
  hd_commit(t, 0, ECANCELED);
  hd_cancel_act(t);
}
