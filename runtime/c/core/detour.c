// detour.c: what a thread may do instead of its pending operation, which stays pending:
// let the time of a condition wait run out, wake up without a waker, or run a signal
// handler. Each is an event of its own and a choice like any other; a script names it by
// its operation.
#include "core/rt.h"

static bool waits_unwoken(const struct hd_thread *t) { return t->needs && !t->granted && !t->timed_out; }

bool hd_detour_possible(const struct hd_thread *t, uint16_t op) {
  switch (op) {
  case HD_OP_COND_TIMEOUT: return t->pend.op == HD_OP_COND_WAKE && t->timed && waits_unwoken(t);
  case HD_OP_SPURIOUS_WAKE: return (t->pend.op == HD_OP_COND_WAKE || t->pend.op == HD_OP_FUTEX_WAKEUP) && waits_unwoken(t) && !t->interrupted && !(t->cancelable && hd_cancel_due(t));
  case HD_OP_SIGNAL_DELIVER: return !t->masked && !hd_io_begun(t) && hd_signal_due(t);
  case HD_OP_SIGNAL_INTERRUPT: {
    int sig = hd_signal_due(t);
    return sig && hd_interruptible(t, sig);
  }
  }
  return false;
}

uint16_t hd_detour_needed(const struct hd_thread *t) {
  if (hd_op_ready(t)) return 0;
  if (t->due) return HD_OP_COND_TIMEOUT;
  if (hd_detour_possible(t, HD_OP_SIGNAL_INTERRUPT)) return HD_OP_SIGNAL_INTERRUPT;
  return hd_detour_possible(t, HD_OP_SIGNAL_DELIVER) ? HD_OP_SIGNAL_DELIVER : 0;
}

void hd_detour(struct hd_thread *t) {
  uint64_t obj = t->pend.obj, aux = t->pend.aux;
  uint16_t op = t->detour;
  t->detour = 0;
  switch (op) {
  case HD_OP_COND_TIMEOUT:
    t->timed_out = true;
    t->due = false;
    hd_del(&hd.timers, t->index);
    if (t->deadline > hd.vtime) hd.vtime = t->deadline;
    hd_progress(t);
    hd_commit_aside(t, op, obj, aux, 0, 0, HD_EV_TIMEOUT);
    break;
  case HD_OP_SPURIOUS_WAKE:
    hd_progress(t);
    hd_commit_aside(t, op, obj, 0, 0, 0, 0);
    hd_grant(t);
    break;
  default:
    hd_deliver_aside(t, op);
  }
  hd_add(&hd.enabled, t->index); // until the next point sees whether it is
}
