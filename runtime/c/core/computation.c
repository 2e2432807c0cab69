// computation.c: threads that make many memory accesses without a scheduling point, a quiet stretch
// (HD_QUIET_EACH). Such a thread computes, or it waits in a loop for a write by another thread or by a
// handler. Only a thread that waits gets a scheduling point:
//
//   waits     the thread wrote nothing in the stretch, and HD_REPEATED consecutive accesses after it
//             return known values, or it makes the same accesses twice in a row. The thread yields, and
//             counts as idle and futile (progress.c), even if it is the only one.
//   computes  any other thread. It continues without an event, a scheduling point or a random draw,
//             whatever the policy. Otherwise most points of a program that computes would be
//             heddle's own, and schedules would seem to preempt there.
//
// A loop that computes until another thread writes looks like work. So a thread yields after
// HD_STRETCHES times HD_QUIET accesses while another thread is enabled, and the RANDOM policy then prefers the
// others (policy.c). Time passes while a thread computes: the thread yields at once if virtual time
// has ended another thread's wait, or if it has a signal to take.
#include "core/computation.h"
#include "core/interrupts.h"
#include "core/outcome.h"
#include "core/progress.h"
#include "core/rings.h"
#include "core/sched.h"
#include "core/virtual_time.h"

enum {
  ACCESS_NS = 1,
  WEIGHT = 4, // observations that a stretch of waiting counts as, for time
  TURNS = 64, // and for hangs: fewer than the turns of a short loop in it
  LONGEST = 6, // log2 of how many times HD_LOOK_ON accesses are examined after one stretch in 2^LONGEST
};

static bool alone(void) { return hd.nlive <= 1 && !hd.ntimers; }

// Reports whether another thread may run now, or ahead of its deadline.
static bool others(const struct hd_thread *t) {
  if (hd.next_deadline != ~0ull) return true;
  for (uint32_t w = 0; w < hd.nwords; w++)
    if (hd.enabled.w[w] & ~(w == t->index / 64 ? 1ull << t->index % 64 : 0)) return true;
  return false;
}

static bool must_yield(struct hd_thread *t) {
  if (HD_UNLIKELY(hd.vtime >= hd.next_deadline) && hd_time_expires()) return true;
  if (HD_UNLIKELY(hd.npending) && hd_signal_due(t)) return true;
  if (t->progress.stretches < t->progress.yield_at || !others(t)) return false;
  if (t->progress.yields < HD_STRETCHES_MORE) t->progress.yields++;
  return true;
}

// Raises the heartbeat, because recording may make a computation slow, and the watchdog measures
// time. It does so for HD_STRETCHES_ALIVE stretches only, so the watchdog still ends an execution
// whose thread never reaches a scheduling point.
static void computes(struct hd_thread *t, uint64_t pc) {
  if (HD_UNLIKELY(hd_cut_asked)) hd_cut_access(pc);
  hd_quiet_set(0);
  if (HD_UNLIKELY(__atomic_load_n(&hd_shm->cut, __ATOMIC_RELAXED) == HD_CUT_WHERE)) hd_tell_where(pc);
  t->progress.looked = t->progress.repeats = 0;
  if (!t->progress.stretches && !t->progress.part) t->progress.yield_at = HD_STRETCHES << t->progress.yields;
  // A stretch's length depends on how many instructions share its accesses; time and yields do not.
  t->progress.part += t->progress.length;
  t->progress.stretches += t->progress.part / HD_QUIET;
  hd.stretches += t->progress.part / HD_QUIET;
  t->progress.part %= HD_QUIET;
  if (t->progress.stretches <= HD_STRETCHES_ALIVE) __atomic_store_n(&hd_shm->heartbeat, hd_shm->heartbeat + 1, __ATOMIC_RELAXED);
  if (alone()) return;
  t->clock.looks = 0; // the thread does more than read a clock
  hd_progress(t);
  if (HD_LIKELY(!must_yield(t))) return;
  t->progress.yield_at = t->progress.stretches + (HD_STRETCHES << t->progress.yields);
  t->progress.computes = true;
  hd.ncomputing++;
  hd_forced_yield(t, pc, 0);
  hd.ncomputing--;
  t->progress.computes = false;
}

static void waits(struct hd_thread *t, uint64_t pc, uint64_t addr) {
  t->progress.looked = t->progress.repeats = t->progress.failed = 0;
  hd.stretches++;
  hd_vain(t, HD_OP_READ, pc, addr);
  hd_waste(t, pc, WEIGHT, TURNS);
  hd_forced_yield(t, pc, addr);
}

// Reports whether the accesses examined so far are the same ones twice, such as a walk round a list that
// is a cycle, which may be too long for hd_tells_nothing.
static bool goes_round(struct hd_thread *t, uint64_t pc, uint64_t addr, uint64_t value) {
  uint64_t access = hd_mix(hd_mix(pc, addr), value);
  if (!t->progress.looked) {
    t->progress.round.anchor = access;
    t->progress.round.hash = t->progress.round.before = 0;
    t->progress.round.length = t->progress.round.period = 0;
    return false;
  }
  t->progress.round.length++;
  t->progress.round.hash = hd_mix(t->progress.round.hash, access);
  if (access != t->progress.round.anchor) return false;
  bool again = t->progress.round.period == t->progress.round.length && t->progress.round.before == t->progress.round.hash;
  t->progress.round.period = t->progress.round.length;
  t->progress.round.before = t->progress.round.hash;
  t->progress.round.length = 0;
  t->progress.round.hash = 0;
  return again;
}

// Called at the first access after a stretch. Reports whether the thread may be waiting, so that
// the following accesses have to be examined.
static bool look_on(struct hd_thread *t) {
  t->progress.length = hd_quiet_sum();
  if (!alone()) hd.vtime += (uint64_t)t->progress.length * ACCESS_NS;
  hd_progress_wrote(t);
  bool wrote = t->progress.wrote & HD_WROTE_SEEN;
  t->progress.wrote &= (uint8_t)~HD_WROTE_SEEN;
  if (wrote) t->progress.idle = t->progress.futile = 0;
  return !wrote;
}

void hd_quiet_read(struct hd_thread *t, uint64_t pc, uint64_t addr, uint64_t value) {
  if (!t->progress.looked && !look_on(t)) {
    computes(t, pc);
    return;
  }
  struct hd_pending keep = t->pend;
  hd_pend(t, HD_OP_YIELD, pc, addr); // where the thread is if the execution ends as a hang
  t->pend.flags = HD_EV_FORCED;
  bool round = goes_round(t, pc, addr, value);
  t->progress.repeats = hd_tells_nothing(t, pc, value) ? t->progress.repeats + 1 : 0;
  // Most stretches are followed by a short look, and ever fewer by ever longer ones.
  uint32_t failed = t->progress.failed | 1u << LONGEST;
  bool all = ++t->progress.looked == (uint32_t)HD_LOOK_ON << __builtin_ctz(failed);
  if (round || t->progress.repeats == HD_REPEATED) {
    waits(t, pc, addr);
  } else if (all) {
    t->progress.failed++;
    computes(t, pc);
  } else {
    hd_quiet_set(HD_QUIET_EACH); // examine the next access, too
  }
  t->pend = keep;
}

void hd_quiet_write(struct hd_thread *t, uint64_t pc) {
  if (!t->progress.looked) look_on(t);
  computes(t, pc);
}
