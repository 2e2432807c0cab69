// virtual_time.c: when virtual time passes. Threads that can run get on as they would on a machine:
// a scheduling point takes HD_POINT_NS. Otherwise time passes freely, to the next deadline,
// when nobody is enabled, and step by step while every enabled thread only spins or yields
// (progress.c) or the execution is already a long one.
//
// Besides, a machine may suspend a thread that could run. So a wait, a sleep or a timer may
// end although its time has not come and another thread is enabled: it overtakes that thread,
// and time jumps. All these jumps together are bounded by the plan's slack. Sleeps that the
// slack allows are choices of the RANDOM, PCT and POS policies like others; waits and timers
// are in one of some dozens, in plans with TIMEOUTS (policy.c). A sleep does not overtake
// timers that are due before it ends. The event has TIMEOUT set and its thread is not in the
// enabled set; a script repeats it by its TIMEOUT steps.
#include "core/interrupts.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"

enum {
  DRIFT = 10000,             // ns of the first step of time, which doubles up to LARGEST
  EVERY = 64,                // points from one step of time to the next in a long execution
  SLOWLY = 32,               // each is so small a part of those before
  SHORTEST_SLEEP = 50000,    // ns that Linux adds to a sleep at least (its timer slack)
  NAPS = 32,                 // in a row, from which on they grow
  GROWTH = 16,
};
static const uint64_t LARGEST = 1ull << 42; // above an hour

// ---- time that nobody is overtaken by
static struct hd_thread *first_deadline(void) {
  struct hd_thread *first = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!first || u->wait.deadline < first->wait.deadline) first = u;
    }
  return first;
}

// What it has seen in vain so far says nothing of what it does now.
static void wake(struct hd_thread *u) {
  u->progress.idle = u->progress.futile = 0;
  u->ran = hd.points;
}

// The deadline of u's wait has passed. A condition wait is not over by that: timing out is
// an event of its own, which needs no mutex and may come after a signal.
static void run_out(struct hd_thread *u) {
  wake(u);
  hd_del(&hd.timers, u->index);
  if (hd_operations[u->pend.op]->timeout_event) u->wait.due = true;
  else u->wait.timed_out = true;
  if (hd_enabled(u)) hd_add(&hd.enabled, u->index);
}

HD_COLD bool hd_time_passes(uint64_t until) {
  struct hd_thread *first = first_deadline();
  if (!first || first->wait.deadline > until) return false;
  if (first->wait.deadline > hd.vtime) hd.vtime = first->wait.deadline;
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

// Steps, and not at once to the next deadline: a thread that spins may look at a clock, and
// must see the time it waits for before somebody else's later time comes.
bool hd_time_drifts(void) {
  if (hd.drift_at != hd.progress_at || !hd.drift) {
    hd.drift_at = hd.progress_at;
    hd.drift = DRIFT;
  }
  uint64_t until = hd.vtime + hd.drift;
  if (hd.drift < LARGEST) hd.drift *= 2;
  if (hd_time_passes(until)) return true;
  hd.vtime = until;
  return false;
}

// A program may well be written to go on until some time has passed. It is not called a hang
// for that: time comes in the second half of the budget, though all are at work. This must not
// depend on the plan's budget, which is another one when the execution is replayed.
HD_COLD void hd_time_long(void) {
  if (hd.points % EVERY) return;
  if (!hd.long_since) hd.long_since = hd.vtime;
  hd.vtime += DRIFT + (hd.vtime - hd.long_since) / SLOWLY;
}

// ---- time that overtakes
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
  if (u->wait.deadline > hd.vtime) hd.vtime = u->wait.deadline;
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

// ---- how long a sleep is
//
// A loop that sleeps for a microsecond until another thread has slept for an hour would never
// get there. Once it has slept NAPS times and found nothing changed, a sleep may last longer
// by a small part of all of them, so that the number of rounds is logarithmic. The thread must
// not have written anything since: a loop that counts its rounds keeps its pace.
uint64_t hd_nap_end(struct hd_thread *t, uint64_t pc, uint64_t deadline) {
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
