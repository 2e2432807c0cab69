// virtual_time.c: when virtual time passes. While threads can run, a scheduling point takes
// HD_POINT_NS. Time also advances to the next deadline when no thread is enabled, and in steps
// while every enabled thread only spins or yields (progress.c) or once the execution is a long one.
//
// A machine may also suspend a thread that could run. So a wait, a sleep or a timer may end before
// its deadline although another thread is enabled: it overtakes that thread, and time jumps to the
// deadline. The plan's slack bounds the sum of these jumps. The RANDOM, PCT and POS policies choose
// sleeps that the slack allows like any enabled operation; they choose waits and timers only in
// plans with TIMEOUTS, in one decision in HD_EARLY_ODDS (policy.c). A sleep does not overtake
// timers that are due before it ends. The event has TIMEOUT set and its thread is not in the
// enabled set; a script's TIMEOUT steps reproduce it.
#include "core/interrupts.h"
#include "core/outside.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"

uint64_t hd_vtime_at_main;

enum {
  DRIFT = 10000,             // ns of the first step of time, which doubles up to LARGEST
  SHORTEST_SLEEP = 50000,    // minimum length of a sleep in ns: Linux adds this timer slack
  NAPS = 32,                 // consecutive sleeps at one site after which sleeps grow
  GROWTH = 16,
};
static const uint64_t LARGEST = 1ull << 42; // above an hour

// ---- time that passes without overtaking
static struct hd_thread *first_deadline(void) {
  struct hd_thread *first = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!first || u->wait.deadline < first->wait.deadline) first = u;
    }
  return first;
}

// Resets u's counts of fruitless observations: they precede the end of its wait.
static void wake(struct hd_thread *u) {
  u->progress.idle = u->progress.futile = 0;
  u->ran = hd.points;
}

// Called when the deadline of u's wait has passed, or was over when the wait began. This does not end a condition wait: its timeout
// is an event of its own, which needs no mutex and may come after a signal.
static void run_out(struct hd_thread *u) {
  if (!u->wait.late) wake(u);
  hd_del(&hd.timers, u->index);
  if (hd_operations[u->pend.op]->timeout_event) u->wait.due = true;
  else u->wait.timed_out = true;
  if (hd_enabled(u)) hd_add(&hd.enabled, u->index);
}

HD_COLD bool hd_time_passes(uint64_t until) {
  struct hd_thread *first = first_deadline();
  if (!first || first->wait.deadline > until) return false;
  hd_time_jump(first->wait.deadline);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  run_out(first);
  return true;
}

HD_COLD bool hd_time_expires(void) {
  bool any = false;
  hd.next_deadline = ~0ull;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->wait.deadline <= hd.vtime) {
        run_out(u);
        any = true;
      } else if (u->wait.deadline < hd.next_deadline) {
        hd.next_deadline = u->wait.deadline;
      }
    }
  return any;
}

// Time advances in steps instead of to the next deadline: a spinning thread may read a clock, and
// must see the time it waits for before a later deadline of another thread passes.
bool hd_time_drifts(void) {
  if (hd.drift_at != hd.progress_at || !hd.drift) {
    hd.drift_at = hd.progress_at;
    hd.drift = DRIFT;
  }
  uint64_t until = hd.vtime + hd.drift;
  HD_CALL_MODULES(passes, hd.drift);
  if (hd.drift < LARGEST) hd.drift *= 2;
  if (hd_time_passes(until)) return true;
  hd.vtime = until;
  return false;
}

// A program may run until a certain time has passed, which is not a hang. So in the fair phase, and
// from HD_LONG points on, time passes although threads are at work. HD_LONG does not depend on the
// plan's budget, because a replay has a different one. It passes no deadline without stopping there: what a thread
// does at that time comes before what others see later.
HD_COLD void hd_time_long(void) {
  if (hd.points % HD_LONG_EVERY) return;
  hd_outside_long();
  if (!hd.long_since) hd.long_since = hd.vtime;
  uint64_t to = hd.vtime + HD_LONG_NS + (hd.vtime >> HD_LONG_BITS ? 0 : (hd.vtime - hd.long_since) / HD_LONG_SHARE);
  if (hd.next_deadline > hd.vtime && hd.next_deadline < to) to = hd.next_deadline;
  hd.vtime = to;
}

// ---- overtaking
bool hd_may_overtake(const struct hd_thread *u) {
  return hd.slack == ~0ull || u->wait.deadline <= hd.vtime || u->wait.deadline - hd.vtime <= hd.slack;
}

void hd_overtaken(const struct hd_thread *u) {
  if (hd.slack == ~0ull || u->wait.deadline <= hd.vtime) return;
  uint64_t ns = u->wait.deadline - hd.vtime;
  hd.slack -= ns < hd.slack ? ns : hd.slack;
}

void hd_early(struct hd_thread *u) {
  wake(u);
  u->wait.timed_out = true;
  hd_del(&hd.timers, u->index);
  hd_add(&hd.enabled, u->index);
  hd_time_jump(u->wait.deadline);
}

bool hd_timer_before(uint64_t vtime) {
  if (HD_LIKELY(!hd.ntimers)) return false;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u->fires && u->wait.timed && u->wait.deadline < vtime) return true;
  }
  return false;
}

static bool may_wake(const struct hd_thread *u) {
  return u->pend.op == HD_OP_SLEEP && !hd_has(&hd.enabled, u->index) && hd_may_overtake(u) && !hd_timer_before(u->wait.deadline);
}

static struct hd_set offered;

bool hd_sleepers_offer(void) {
  bool any = false;
  for (uint32_t w = 0; w < hd.nwords; w++) {
    offered.w[w] = 0;
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
      if (may_wake(&hd_threads[i])) {
        hd_add(&offered, i);
        any = true;
      }
    }
    hd.enabled.w[w] |= offered.w[w];
  }
  return any;
}

void hd_sleepers_withdraw(struct hd_thread *chosen) {
  for (uint32_t w = 0; w < hd.nwords; w++) hd.enabled.w[w] &= ~offered.w[w];
  if (!hd_has(&offered, chosen->index)) return;
  hd_overtaken(chosen);
  hd_early(chosen);
}

// ---- the length of a sleep
//
// A loop that sleeps for a microsecond until another thread has slept for an hour would exceed the
// step budget. After NAPS sleeps at one site without progress, each sleep may therefore last longer
// by a small fraction of the time since the first, so the number of rounds is logarithmic. This
// applies only if the thread wrote nothing in between: a loop that counts its rounds keeps its pace.
uint64_t hd_nap_end(struct hd_thread *t, uint64_t pc, uint64_t deadline) {
  hd_progress_wrote(t);
  bool again = t->clock.nap_pc == pc && t->clock.nap_progress == hd.progress_at && !(t->progress.wrote & HD_WROTE_NAP) && hd_shm->instrumented == HD_INSTR_TSAN;
  t->progress.wrote &= (uint8_t)~HD_WROTE_NAP;
  t->clock.naps = again ? t->clock.naps + 1 : 0;
  if (!again) t->clock.nap_began = hd.vtime;
  t->clock.nap_pc = pc;
  t->clock.nap_progress = hd.progress_at;
  uint64_t least = hd.vtime + SHORTEST_SLEEP;
  if (t->clock.naps > NAPS && (hd.vtime - t->clock.nap_began) / GROWTH > SHORTEST_SLEEP) least = hd.vtime + (hd.vtime - t->clock.nap_began) / GROWTH;
  return deadline > least ? deadline : least;
}
