// interrupts.c: which signals a thread must take, and how late it may take them.
#include "core/interrupts.h"
#include "core/run.h"
#include "core/sched.h"

bool hd_signal_waited(const struct hd_thread *u, int sig) {
  return !u->ended && u->pend.op == HD_OP_SIGNAL_WAIT && u->wait.on && u->pend.aux & hd_bit(sig);
}

bool hd_signal_takes(const struct hd_thread *u, int sig) { return !u->ended && !u->fires && !(u->signals.mask & hd_bit(sig)); }

bool hd_signal_only_for(uint32_t target, int sig, const struct hd_thread *t) {
  if (target != HD_PROCESS) return target == t->index;
  if (!hd_signal_takes(t, sig)) return false;
  for (uint32_t i = 0; i < hd.nthreads; i++)
    if (&hd_threads[i] != t && (hd_signal_takes(&hd_threads[i], sig) || hd_signal_waited(&hd_threads[i], sig))) return false;
  return true;
}

bool hd_signal_for(const struct hd_thread *t) {
  if (t->signals.pending & ~t->signals.mask) return true;
  for (uint64_t m = hd.process_pending & ~t->signals.mask; m; m &= m - 1)
    if (hd_signal_only_for(HD_PROCESS, __builtin_ctzll(m) + 1, t)) return true;
  return false;
}

int hd_signal_next(const struct hd_thread *t) {
  uint64_t own = t->signals.pending & ~t->signals.mask, all = hd_signals_pending(t) & ~t->signals.mask;
  if (t->pend.op == HD_OP_SIGNAL_WAIT && t->wait.on) { own &= ~t->pend.aux; all &= ~t->pend.aux; } // those are accepted
  return own ? __builtin_ctzll(own) + 1 : all ? __builtin_ctzll(all) + 1 : 0;
}

int hd_signal_due(const struct hd_thread *t) {
  if (!hd.npending || t->ended || t->fires) return 0;
  switch (t->pend.op) {
  case HD_OP_THREAD_START: case HD_OP_MUTEX_ABANDON: case HD_OP_THREAD_END: case HD_OP_ABORT: // libc blocks signals there
  case HD_OP_SIGNAL_DELIVER:
    return 0;
  }
  return hd_signal_next(t);
}

bool hd_interruptible(const struct hd_thread *t, int sig) {
  if (t->wait.intr == HD_INTR_NEVER || t->wait.interrupted || (t->wait.intr == HD_INTR_RESTART && hd.restarting & hd_bit(sig))) return false;
  if (t->pend.op == HD_OP_SLEEP || t->pend.op == HD_OP_SIGNAL_RESUME) return true;
  return !hd_op_possible(t) || (t->wait.owed == HD_OWED_BLOCKED && hd_owes(t)); // only while it is blocked
}

// ---- the latest time to take a signal
//
// A thread that receives a signal while blocked in the kernel runs the handler before its call
// continues, whatever has happened to the object it waits for: the sender marks the thread
// before the send returns, and the thread checks the mark before it leaves the kernel. A blocked
// thread's operation therefore stays disabled until the thread has taken the signal. (A thread
// about to make a call that would block counts as blocked in it. On a machine it could still
// precede the call only while the interrupt travels to its processor, and the call would have to
// become possible, start and finish within that time.)
// A thread need not take a signal directed at the process if another thread can take it.
// ppoll and similar calls first check which descriptors are ready; hd_mask_back handles them.
static bool deliverable(const struct hd_thread *t) {
  if (t->fires || t->signals.masked || !hd_signal_due(t) || !hd_signal_for(t)) return false;
  return !t->wait.begun || (!t->wait.interrupted && (t->wait.owed == HD_OWED_BLOCKED || !hd_op_possible(t))); // then it can only end the call
}

bool hd_owes(const struct hd_thread *t) { return t->wait.owed && hd.npending && deliverable(t); }

void hd_owe(struct hd_thread *t) {
  if (t->wait.owed != HD_OWED_BLOCKED && t->wait.on && !hd_op_possible(t) && deliverable(t)) t->wait.owed = HD_OWED_BLOCKED;
}

// On a machine the interrupt arrives within microseconds, before another thread can observe that
// a thread has started, ended or woken from a sleep.
void hd_signals_arrive(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && !u->wait.owed && deliverable(u)) u->wait.owed = HD_OWED_ARRIVED;
  }
}
