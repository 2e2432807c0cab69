// progress.c: detects threads that only wait. An observation is the value of a read, a failed
// attempt or a yield. It is fruitless if the same instruction made the same observation before and
// the thread has written nothing and had no other effect in between. A thread that makes HD_SPIN
// fruitless observations in a row spins, and then counts as yielding to the others.
//
// Two counters of each thread decide about time and hangs. Both restart when any thread makes
// progress:
//   idle    fruitless observations. When every enabled thread has HD_IDLE of them, virtual time
//           may pass without overtaking useful work (virtual_time.c).
//   futile  the fruitless observations of something that other threads can change. The yields of
//           a loop that does nothing else do not count: the loop may be a delay of fixed length.
//           When every enabled thread has HD_FUTILE of them, and HD_HOPELESS points per enabled
//           thread, or HD_HOPELESS_ALONE of the only one, have passed, all virtual time passes that
//           threads wait for. If there is no such time, the fair phase begins (policy.c). If it has
//           begun, and as much has passed in it, the execution is suspected of a hang, and ends: each
//           thread has had the chance to run. A plan that says when the phase begins requires HD_SURE
//           times as much.
//
// Other processes get real time before that, if one could end a thread's wait (outside.c).
//
// A script says where the execution goes on; it is not a hang before the last step.
//
// A thread that writes to memory between its observations may have an effect that becomes visible
// only later. The policies treat it as spinning, but it is neither idle nor futile; if it waits
// forever, the step budget ends the execution.
#include "core/modules.h"
#include "core/outcome.h"
#include "core/outside.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/virtual_time.h"

bool hd_spinning(const struct hd_thread *t) { return t->progress.stale >= HD_SPIN; }

// Reports whether each enabled thread has reached both counts since the last progress of any
// thread; *n is then the number of enabled threads, and *least the smallest of their futile counts.
static bool everyone(uint32_t idle, uint32_t futile, uint32_t *n, uint32_t *least) {
  *n = 0;
  *least = ~0u;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
      const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->progress.idle_at != hd.progress_at || u->progress.idle < idle || u->progress.futile < futile) return false;
      if (u->progress.futile < *least) *least = u->progress.futile;
      ++*n;
    }
  return true;
}

static bool everyone_idle(void) {
  uint32_t n, least;
  return everyone(HD_IDLE, 0, &n, &least);
}

static HD_COLD void look_around(struct hd_thread *t, uint64_t pc) {
  if (!everyone_idle() || hd_time_drifts()) return;
  uint32_t n, least;
  if (!everyone(HD_IDLE, HD_FUTILE, &n, &least)) return;
  uint64_t since = hd.progress_at, each = n == 1 ? HD_HOPELESS_ALONE : HD_HOPELESS;
  // A quiet stretch of waiting is one point and many turns (computation.c).
  uint64_t waited = hd.points - since > least * (uint64_t)n ? hd.points - since : least * (uint64_t)n;
  if (waited <= each * n) return;
  enum hd_outside shown = hd_outside_rest();
  if (shown == HD_OUTSIDE_ACTED || shown == HD_OUTSIDE_NOT_YET) {
    hd_progress(t);
    return;
  }
  if (shown == HD_OUTSIDE_NEVER && hd.pos >= hd.plan.nsteps) hd_outside_ends(pc, t->pend.obj);
  if (hd_time_passes(~0ull)) {
    hd_progress(t);
    return;
  }
  if (hd.pos < hd.plan.nsteps) return;
  if (!hd.late) {
    hd.suspected = !hd.plan.fair_after;
  } else if (waited > each * n * (hd.plan.fair_after ? HD_SURE : 1)) {
    hd_end(HD_OUT_HANG, 0, pc, t->pend.obj, "no progress");
  }
}

HD_ON_SIDE_STACK(void, hd_waste, (struct hd_thread *t, uint64_t pc, uint32_t weight, uint32_t futile)) {
  t->progress.stale++;
  hd.vain++;
  hd.wasted++;
  if (t->progress.wrote & HD_WROTE_SEEN) {
    t->progress.wrote &= (uint8_t)~HD_WROTE_SEEN;
    t->progress.idle = t->progress.futile = 0;
    return;
  }
  if (t->progress.idle_at != hd.progress_at) {
    t->progress.idle_at = hd.progress_at;
    t->progress.idle = t->progress.futile = 0;
  }
  uint32_t before = t->progress.idle;
  t->progress.idle += weight;
  t->progress.futile += futile;
  if (HD_UNLIKELY((before ^ t->progress.idle) & ~(uint32_t)(HD_IDLE - 1))) look_around(t, pc);
}

// The same instruction at another address makes another observation, so a loop over an array of
// equal elements does not spin.
bool hd_tells_nothing(struct hd_thread *t, uint64_t pc, uint64_t value) {
  uint64_t key = hd_mix(pc, t->pend.obj);
  uint32_t set = (uint32_t)(key >> 8) % HD_SEEN_SETS;
  for (uint32_t i = 0; i < HD_SEEN_WAYS; i++)
    if (t->progress.seen[set][i].key == key) {
      if (t->progress.seen[set][i].value == value) return true;
      t->progress.seen[set][i].value = value;
      return false;
    }
  uint32_t i = t->progress.seen_next++ % HD_SEEN_WAYS;
  t->progress.seen[set][i].key = key;
  t->progress.seen[set][i].value = value;
  return false;
}

HD_ON_SIDE_STACK(void, hd_observe, (struct hd_thread *t, uint64_t pc, uint64_t value)) {
  if (!hd_tells_nothing(t, pc, value)) {
    hd_progress(t);
    return;
  }
  hd_vain(t, t->pend.op, pc, t->pend.obj);
  hd_waste(t, pc, 1, true);
}

void hd_vain(struct hd_thread *t, uint16_t op, uint64_t pc, uint64_t object) {
  t->progress.vain.op = op;
  t->progress.vain.pc = pc;
  t->progress.vain.object = object;
  t->progress.vain.points = hd.points;
}

void hd_spins_at(const struct hd_thread *t, struct hd_waiter *w) {
  if (t->progress.stale < HD_WHERE_SPINS) return;
  // Each of the fruitless observations was a scheduling point of its own: a read since as many points is one of them.
  if (hd.points - t->progress.vain.points < t->progress.stale) {
    w->op = t->progress.vain.op;
    w->pc = hd_name(t->progress.vain.pc);
    w->object = hd_name(t->progress.vain.object);
  }
  if (w->op != HD_OP_NONE) w->spins = t->progress.stale;
}
