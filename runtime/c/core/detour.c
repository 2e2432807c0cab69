// detour.c: detours. A chosen thread may time out in a condition wait, wake up spuriously or run a
// signal handler instead of performing its pending operation, which stays pending. A detour is an
// event and a scheduling decision like any other; a script names it by its operation.
#include "core/cancellation.h"
#include "core/interrupts.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"

static bool waits_unwoken(const struct hd_thread *t) { return t->wait.on && !t->wait.woken && !t->wait.timed_out; }

bool hd_detour_possible(const struct hd_thread *t, uint16_t op) {
  switch (op) {
  case HD_OP_COND_TIMEOUT: return hd_operations[t->pend.op]->timeout_event && t->wait.timed && waits_unwoken(t);
  case HD_OP_SPURIOUS_WAKE: return hd_operations[t->pend.op]->spurious && waits_unwoken(t) && !t->wait.interrupted && !(t->wait.cancelable && hd_cancel_due(t));
  case HD_OP_SIGNAL_DELIVER: return !t->signals.masked && !t->wait.begun && hd_signal_due(t);
  case HD_OP_SIGNAL_INTERRUPT: {
    int sig = hd_signal_due(t);
    return sig && hd_interruptible(t, sig);
  }
  }
  return false;
}

uint16_t hd_detour_needed(const struct hd_thread *t) {
  if (hd_op_enabled(t)) return 0;
  if (t->wait.due) return HD_OP_COND_TIMEOUT;
  if (hd_detour_possible(t, HD_OP_SIGNAL_INTERRUPT)) return HD_OP_SIGNAL_INTERRUPT;
  return hd_detour_possible(t, HD_OP_SIGNAL_DELIVER) ? HD_OP_SIGNAL_DELIVER : 0;
}

void hd_detour(struct hd_thread *t) {
  uint64_t obj = t->pend.obj, aux = t->pend.aux;
  uint16_t op = t->detour;
  t->detour = 0;
  switch (op) {
  case HD_OP_COND_TIMEOUT:
    t->wait.timed_out = true;
    t->wait.due = false;
    hd_del(&hd.timers, t->index);
    hd_time_jump(t->wait.deadline);
    if (!t->wait.late) hd_progress(t);
    hd_commit_aside(t, op, obj, aux, 0, 0, HD_EV_TIMEOUT);
    hd_timed_out(t, t->pend.pc);
    break;
  case HD_OP_SPURIOUS_WAKE:
    hd_progress(t);
    hd_commit_aside(t, op, obj, 0, 0, 0, 0);
    hd_wake(t);
    break;
  default:
    hd_operations[op]->detour(t, op);
  }
  hd_add(&hd.enabled, t->index); // the next hd_point checks whether it is enabled
}
