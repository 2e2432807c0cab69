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
#include "core/cancellation.h"
#include "core/libc.h"
#include "core/registration.h"
#include "core/sched.h"

bool hd_cancel_interrupts(const struct hd_thread *u) {
  return hd_cancel_due(u) && (u->wait.cancelable || (u->cancel & HD_CANCEL_ASYNC && hd_operations[u->pend.op]->async_cancel));
}

void hd_cancel_act(struct hd_thread *t) {
  t->cancel |= HD_CANCEL_LEAVING;
  t->ret = PTHREAD_CANCELED;
  REAL(pthread_exit)(PTHREAD_CANCELED);
  __builtin_unreachable();
}

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
