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
//           threads wait for. If there is no such time, and the plan's patience times as many points
//           have passed, the execution is a hang. Every thread has then had the chance to run, because
//           the policies are fair (policy.c).
//
// Patience decides nothing but the end, so that executions with more of it begin alike. A strict
// script says where the execution ended; it is not a hang before the last step.
//
// A thread that writes to memory between its observations may have an effect that becomes visible
// only later. The policies treat it as spinning, but it is neither idle nor futile; if it waits
// forever, the step budget ends the execution.
#include "core/outcome.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/virtual_time.h"

bool hd_spinning(const struct hd_thread *t) { return t->progress.stale >= HD_SPIN; }

// Reports whether each enabled thread has reached both counts since the last progress of any
// thread; *n is then the number of enabled threads.
static bool everyone(uint32_t idle, uint32_t futile, uint32_t *n) {
  *n = 0;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
      const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->progress.idle_at != hd.progress_at || u->progress.idle < idle || u->progress.futile < futile) return false;
      ++*n;
    }
  return true;
}

static bool everyone_idle(void) {
  uint32_t n;
  return everyone(HD_IDLE, 0, &n);
}

static bool scripted(void) { return hd.plan.script_mode == HD_SCRIPT_STRICT && hd.pos < hd.plan.nsteps; }

static HD_COLD void look_around(struct hd_thread *t, uint64_t pc) {
  if (!everyone_idle() || hd_time_drifts()) return;
  uint32_t n;
  if (!everyone(HD_IDLE, HD_FUTILE, &n)) return;
  uint64_t waited = hd.points - hd.progress_at, enough = n == 1 ? HD_HOPELESS_ALONE : (uint64_t)HD_HOPELESS * n;
  if (waited <= enough) return;
  if (hd_time_passes(~0ull)) hd_progress(t);
  else if (waited > enough * hd.plan.patience && !scripted()) hd_end(HD_OUT_HANG, 0, pc, t->pend.obj, "no progress");
}

void hd_waste(struct hd_thread *t, uint64_t pc, uint32_t weight, bool futile) {
  t->progress.stale++;
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

void hd_observe(struct hd_thread *t, uint64_t pc, uint64_t value) {
  if (!hd_tells_nothing(t, pc, value)) hd_progress(t);
  else hd_waste(t, pc, 1, true);
}
