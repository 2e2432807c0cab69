// sched.c: scheduling points. A thread stops before each operation with the operation
// pending; one thread whose pending operation is ready is chosen and does it. So the
// set of enabled threads is exact at every choice, and an operation and its event are
// one step for all others.
#include "rt.h"

struct hd_run hd;
struct hd_thread *hd_threads;

static bool any(const struct hd_set *s) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    if (s->w[w]) return true;
  return false;
}

static HD_COLD bool fire_timer(void) {
  struct hd_thread *first = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!first || u->deadline < first->deadline) first = u;
    }
  if (!first) return false;
  // Nobody can run: time passes until the next wait is over.
  if (first->deadline > hd.vtime) hd.vtime = first->deadline;
  first->timed_out = true;
  hd_del(&hd.timers, first->index);
  if (hd_ready(first)) hd_add(&hd.enabled, first->index);
  return true;
}

// Time has passed the deadline of a wait, because somebody slept or looked at a clock.
static HD_COLD void expire(void) {
  hd.next_deadline = ~0ull;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->deadline > hd.vtime) {
        if (u->deadline < hd.next_deadline) hd.next_deadline = u->deadline;
        continue;
      }
      u->timed_out = true;
      hd_del(&hd.timers, u->index);
      if (hd_ready(u)) hd_add(&hd.enabled, u->index);
    }
}

static struct hd_thread *choose(void) {
  hd.wake_choice = -1;
  if (HD_UNLIKELY(hd.vtime >= hd.next_deadline)) expire();
  while (!any(&hd.enabled))
    if (!fire_timer()) {
      hd_end(HD_OUT_DEADLOCK, 0, hd.cur->pend.pc, hd.cur->pend.obj, NULL);
    }
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  int32_t i = -1;
  if (hd.pos < hd.plan.nsteps) i = hd_script_choose();
  if (i < 0) i = (int32_t)hd_policy_choose();
  return &hd_threads[i];
}

static void run(struct hd_thread *next) {
  struct hd_thread *from = hd.cur;
  hd.cur = next;
  hd_set_fs(next->fs);
  hd_fiber_switch(&from->sp, next->sp);
}

void hd_point(struct hd_thread *t) {
  hd.points++;
  t->quiet = 0;
  if (HD_UNLIKELY(hd.points > hd.plan.max_steps)) hd_hang(t->pend.pc, t->pend.obj); // or the watchdog
  if (HD_UNLIKELY((hd.points & 0xffff) == 0)) __atomic_fetch_add(&hd_shm->heartbeat, 1, __ATOMIC_RELAXED);
  if (t->needs && !hd_ready(t)) hd_del(&hd.enabled, t->index);
  hd_policy_arrive(t);
  struct hd_thread *next = choose();
  if (next != t) run(next);
  hd.open = true;
  if (HD_UNLIKELY(t->cancel & HD_CANCEL_ASYNC)) hd_cancel_async(t);
}

void hd_thread_leave(void) {
  struct hd_thread *next = choose();
  hd.cur = next;
  hd_set_fs(next->fs);
  hd_fiber_jump(next->sp);
}

void hd_block_forever(struct hd_thread *t) {
  hd_need(t, ~0ull, 0);
  hd_point(t);
  __builtin_unreachable();
}

void hd_need(struct hd_thread *t, uint64_t obj, uint64_t obj2) {
  t->needs = obj;
  t->needs2 = obj2;
  hd_add(&hd.needers, t->index);
}

void hd_need_nothing(struct hd_thread *t) {
  t->needs = t->needs2 = 0;
  t->granted = false;
  hd_del(&hd.needers, t->index);
  if (t->timed) {
    t->timed = t->timed_out = false;
    hd_del(&hd.timers, t->index);
  }
}

void hd_grant(struct hd_thread *u) {
  u->granted = true;
  if (u->timed) hd_del(&hd.timers, u->index);
}

void hd_update(uint64_t obj) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->needs != obj && u->needs2 != obj) continue;
      if (hd_ready(u)) hd_add(&hd.enabled, u->index);
      else hd_del(&hd.enabled, u->index);
    }
}

void hd_commit_failed(void) {
  if (!hd.open || !hd.cur) return;
  hd_commit(hd.cur, hd.cur->pend.op == HD_OP_THREAD_JOIN ? hd.cur->pend.aux : 0, -1);
  hd_event_forget();
}

void hd_commit(struct hd_thread *t, uint64_t value, int32_t result) {
  hd.open = false;
  if (hd.last != t->index) {
    if (hd.last != ~0u) {
      hd.switches++;
      if (hd_has(&hd.decision, hd.last)) hd.preemptions++;
    }
    hd.last = t->index;
  }
  hd_coverage(t, value);
  if (HD_UNLIKELY(hd.record)) hd_event(t, value, result, t->timed_out ? HD_EV_TIMEOUT : 0);
  hd_policy_done(t);
  if (t->needs) hd_need_nothing(t);
}
