// sched.c: scheduling points. A thread stops before each operation with the operation pending.
// The scheduler chooses one thread whose pending operation is enabled, and that thread performs
// it. The set of enabled threads is therefore exact at every scheduling decision, and an
// operation and its event are one atomic step to all other threads.
#include <errno.h>
#include "core/beside_assembly.h"
#include "core/cancellation.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/holds.h"
#include "core/interrupts.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/policy.h"
#include "core/private_state.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/setup.h"
#include "core/side_stack.h"
#include "core/stack_use.h"
#include "core/turns.h"
#include "core/virtual_time.h"

struct hd_run hd;
struct hd_thread *hd_threads;

static bool any(const struct hd_set *s) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    if (s->w[w]) return true;
  return false;
}

static inline void count_point(const struct hd_thread *t) {
  hd.points++;
  hd.vtime += HD_POINT_NS;
  // signals/crash.c lowers the budget when the controller asks to end the execution.
  if (HD_UNLIKELY(hd.points > hd.plan.max_steps)) hd_unfinished(t->pend.pc, t->pend.obj);
  // Raises the heartbeat at every point except a yield that the runtime inserted, because some
  // programs compute for a tenth of a second between points. No atomic addition is needed: only
  // the running thread writes it.
  uint32_t own = !(t->pend.flags & HD_EV_FORCED);
  __atomic_store_n(&hd_shm->heartbeat, hd_shm->heartbeat + own, __ATOMIC_RELAXED);
  __atomic_store_n(&hd_shm->at_pc, t->pend.pc, __ATOMIC_RELAXED);
  __atomic_store_n(&hd_shm->at_thread, t->number, __ATOMIC_RELAXED);
  __atomic_store_n(&hd_shm->at_points, (uint32_t)hd.points, __ATOMIC_RELAXED);
  if (HD_UNLIKELY(__atomic_load_n(&hd_shm->cut, __ATOMIC_RELAXED) == HD_CUT_WHERE)) hd_tell_where(0);
}

// Reports whether another process has ended a thread's wait, or may do so.
static HD_COLD bool external(void) {
  HD_EACH_MODULE(m)
    if (m->external && m->external()) return true;
  return false;
}

static struct hd_thread *choose(void) {
  for (;;) {
    hd.wake_choice = -1;
    if (HD_LIKELY(!hd.late)) hd_policy_fair();
    if (HD_UNLIKELY(hd.late || hd.points >= HD_LONG)) hd_time_long();
    if (HD_UNLIKELY(hd.vtime >= hd.next_deadline)) hd_time_expires();
    if (HD_UNLIKELY(!any(&hd.enabled))) hd_update_all(); // the program may have written over an object
    while (!any(&hd.enabled)) // time passes until a wait ends
      if (!external() && !hd_time_passes(~0ull)) hd_end(HD_OUT_DEADLOCK, 0, hd.cur->pend.pc, hd.cur->pend.obj, hd_waits_described());
    for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
    if (HD_UNLIKELY(hd.plan.nholds)) hd_holds_look();
    int32_t i = -1;
    if (hd.pos < hd.plan.nsteps) i = hd_script_choose();
    bool script = i >= 0;
    if (!script) i = (int32_t)hd_policy_choose();
    struct hd_thread *t = &hd_threads[i];
    if (HD_UNLIKELY(hd.plan.nholds)) hd_holds_chosen(t, script);
    if (HD_LIKELY(!hd.ntimers || !t->fires)) return t;
    t->fires(t); // a pseudo-thread runs no code
    count_point(t);
  }
}

static void run(struct hd_thread *next) {
  struct hd_thread *from = hd.cur;
  uintptr_t side = hd_side_top;
  hd_stack_leave(from, next);
  from->stack.side_top = side;
  hd.cur = next;
  hd_switch(from, next);
  hd_side_top = side;
  from->stack.side_top = 0;
}

// Reports whether t, which runs, has passed a point at which the plan's turns leave it running. None is passed before the first thread
// is created: executions with other plans may share the set-up (core/setup.c).
static bool pass(struct hd_thread *t) {
  if (hd.nborn == 1 || hd.pos < hd.plan.nsteps || hd.npending || hd.plan.nholds || hd.points >= HD_LONG || hd.vtime + HD_POINT_NS >= hd.next_deadline) return false;
  if ((t->wait.on && !hd_enabled(t)) || !hd_turns_pass(t)) return false;
  count_point(t);
  hd.passed++;
  hd.vain = 0;
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  hd.wake_choice = -1;
  t->detour = 0;
  return true;
}

HD_ON_SIDE_STACK(void, hd_point, (struct hd_thread *t)) {
  hd_quiet_set(0);
  t->progress.stretches = t->progress.part = 0;
  hd_progress_wrote(t);
  if (HD_UNLIKELY(hd_loading)) hd_late_look();
  if (HD_UNLIKELY(hd.plan.flags & HD_PLAN_STATES) && hd.late) hd_private_state(t);
  for (bool again = false; again || HD_LIKELY(!hd.plan.turns) || !pass(t); again = true) { // after a detour t is at the same operation
    count_point(t);
    if (HD_UNLIKELY(hd.npending)) hd_owe(t);
    if (t->wait.on && !hd_enabled(t)) {
      hd_del(&hd.enabled, t->index);
      if (HD_UNLIKELY(hd.plan.flags & HD_PLAN_CYCLES)) hd_deadlock_look(t);
    }
    if (HD_UNLIKELY(hd_setup_open)) hd_setup_point(t, again);
    hd_policy_arrive(t);
    if (HD_UNLIKELY(hd.plan.nholds) && !again) hd_holds_arrive(t);
    struct hd_thread *next = choose();
    if (next != t) run(next);
    if (HD_UNLIKELY(t->detour)) {
      hd_detour(t);
    } else {
      if (HD_LIKELY(!t->wait.on || hd_op_enabled(t))) break;
      // The object was free at the last check, but the program has since overwritten it without
      // an operation on it. The thread was chosen in vain and blocks again.
      hd_commit_aside(t, t->pend.op, t->pend.obj, t->pend.aux, 0, EAGAIN, 0);
    }
  }
  hd.open = true;
  if (HD_UNLIKELY(hd_stack_other(t->pend.obj))) hd_stack_operation(t);
  if (HD_UNLIKELY(t->cancel & HD_CANCEL_ASYNC)) hd_cancel_async(t);
}

HD_ON_SIDE_STACK(void, hd_forced_yield, (struct hd_thread *t, uint64_t pc, uint64_t addr)) {
  struct hd_pending keep = t->pend;
  uint32_t stretches = t->progress.stretches, part = t->progress.part; // kept: the yield is not one of the program's points
  hd_pend(t, HD_OP_YIELD, pc, 0);
  t->pend.flags = HD_EV_FORCED;
  hd_point(t);
  t->pend.obj = addr; // only now: the yield conflicts with nothing
  hd_commit(t, 0, 0);
  t->progress.stretches = stretches, t->progress.part = part;
  t->pend = keep;
}

void hd_thread_leave(void) {
  hd_quiet_set(0);
  hd.wrote = 0;
  struct hd_thread *next = choose();
  struct hd_thread *from = hd.cur;
  hd_stack_leave(from, next);
  hd.cur = next;
  hd_switch_leave(from, next);
}

void hd_block_forever(struct hd_thread *t) {
  hd_block_on(t, ~0ull, 0);
  hd_point(t);
  __builtin_unreachable();
}

void hd_block_on(struct hd_thread *t, uint64_t obj, uint64_t obj2) {
  t->wait.on = obj;
  t->wait.on2 = obj2;
  hd_add(&hd.needers, t->index);
}

void hd_unblock(struct hd_thread *t) {
  t->wait.on = t->wait.on2 = 0;
  t->wait.woken = t->wait.interrupted = false;
  t->wait.owed = HD_OWED_NOT;
  t->wait.intr = HD_INTR_NEVER;
  hd_del(&hd.needers, t->index);
  if (t->wait.timed) {
    t->wait.timed = t->wait.timed_out = t->wait.due = false;
    hd_del(&hd.timers, t->index);
  }
}

// A wait that a cancellation is about to end must not consume a wake-up.
bool hd_can_wake(struct hd_thread *u, uint16_t op, uint64_t obj, uint64_t *arrival) {
  bool cancelled = hd_cancel_due(u);
  u->signals.waking = NULL;
  *arrival = u->wait.arrival;
  if (u->pend.op == op && u->pend.obj == obj && u->wait.on && !u->ended) return !u->wait.woken && !u->wait.timed_out && !(cancelled && u->wait.cancelable);
  for (struct hd_suspended *s = u->signals.suspended; s; s = s->outer)
    if (s->wait.on && s->pend.op == op && s->pend.obj == obj && !s->wait.woken && !s->wait.timed_out && !(cancelled && s->wait.cancelable)) {
      u->signals.waking = s;
      *arrival = s->wait.arrival;
      return true;
    }
  return false;
}

void hd_wake(struct hd_thread *u) {
  struct hd_suspended *s = u->signals.waking;
  u->signals.waking = NULL;
  if (HD_UNLIKELY(s != NULL)) {
    s->wait.woken = true;
    return;
  }
  u->wait.woken = true;
  u->wait.due = false;
  if (u->wait.timed) hd_del(&hd.timers, u->index);
}

static inline void update(bool all, uint64_t obj) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!all && u->wait.on != obj && u->wait.on2 != obj) continue;
      if (HD_UNLIKELY(hd.npending)) hd_owe(u);
      if (!hd_enabled(u)) {
        hd_del(&hd.enabled, u->index);
      } else if (!hd_has(&hd.enabled, u->index)) {
        hd_add(&hd.enabled, u->index);
        u->ran = hd.points;
      }
    }
}

void hd_update(uint64_t obj) { update(false, obj); }
void hd_update_all(void) { update(true, 0); }

void hd_memory_gone(uint64_t at, uint64_t bytes) {
  hd_assembly_forget(at, bytes);
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if ((u->wait.on - at < bytes || u->wait.on2 - at < bytes) && hd_enabled(u)) hd_add(&hd.enabled, u->index);
    }
}

bool hd_waited_for(uint64_t obj, const struct hd_thread *but, uint16_t op) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u != but && u->pend.op == op && (u->wait.on == obj || u->wait.on2 == obj)) return true;
    }
  return false;
}

HD_ON_SIDE_STACK(void, hd_commit_failed, (void)) {
  if (!hd.open || !hd.cur) return;
  hd_commit(hd.cur, hd.cur->pend.op == HD_OP_THREAD_JOIN ? hd.cur->pend.aux : 0, -1);
  hd_event_forget();
}

static void done(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  hd.open = false;
  if (hd.last != t->index) {
    if (hd.last != ~0u) {
      hd.switches++;
      if (hd_has(&hd.decision, hd.last)) {
        if (HD_UNLIKELY(hd_threads[hd.last].pend.flags & HD_EV_LIBRARY)) flags |= HD_EV_OFFERED;
        else hd.preemptions++;
      }
    }
    hd.last = t->index;
    hd.since = hd.points;
  }
  t->ran = t->acted = hd.points;
  hd_signature(t);
  if (HD_UNLIKELY(hd.watcher != NULL)) hd.watcher(t, value, result, flags);
  if (HD_UNLIKELY(hd.record)) hd_event(t, value, result, flags);
  hd_policy_done(t);
}

HD_ON_SIDE_STACK(void, hd_commit, (struct hd_thread *t, uint64_t value, int32_t result)) {
  bool timeout = t->wait.timed_out && !hd_operations[t->pend.op]->timeout_event && (t->pend.op != HD_OP_SLEEP || !hd_has(&hd.decision, t->index));
  done(t, value, result, timeout ? HD_EV_TIMEOUT : 0);
  if (HD_UNLIKELY(hd.plan.nholds)) hd_holds_done(t, result);
  if (HD_UNLIKELY(hd_setup_open)) hd_setup_done(t, result, false);
  if (t->wait.on || t->wait.intr || t->wait.owed) hd_unblock(t);
}

void hd_commit_aside(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value, int32_t result, uint32_t flags) {
  struct hd_pending keep = t->pend;
  hd_pend(t, op, keep.pc, obj);
  t->pend.aux = aux;
  done(t, value, result, flags);
  if (HD_UNLIKELY(hd_setup_open)) hd_setup_done(t, result, true);
  t->pend = keep;
}

HD_ON_SIDE_STACK(void, hd_note, (struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value)) {
  if (!hd.record && !hd.watcher) return;
  struct hd_pending keep = t->pend;
  hd_pend(t, op, keep.pc, obj);
  t->pend.aux = aux;
  if (hd.watcher) hd.watcher(t, value, 0, HD_EV_NODECISION);
  if (hd.record) {
    for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
    hd_event(t, value, 0, HD_EV_NODECISION);
  }
  t->pend = keep;
}
