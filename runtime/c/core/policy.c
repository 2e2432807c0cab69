// policy.c: the stepping policies of docs/scheduler.md. Search strategies are built from plans
// that use them.
//   FAIR    non-preemptive; leaves a thread only when it blocks, yields, spins, or has run
//           for HD_QUANTUM consecutive points
//   RANDOM  uniform among enabled threads, or with a bias to the running thread
//   PCT     random priorities, d-1 change points (Burckhardt, Kothari, Musuvathi,
//           Nagarakatte, ASPLOS 2010, §3). A thread that yields or spins drops below all
//           others; otherwise it would starve the thread it waits for
//   POS     each pending operation has a random priority, drawn again when a conflicting
//           operation is performed (Yuan, Yang, Gu, CAV 2018, algorithm 2). In addition to the
//           paper, a thread that yields or spins has a priority below those of all other
//           threads, drawn from a window that moves down with each draw
//   WALK    random among enabled threads, each in proportion to its remaining events, so that all
//           interleavings are equally likely where no operation blocks; over the plan's interesting
//           instructions, if it has any (Zhao and others, ASPLOS 2025)
//   DELAY   FAIR, which passes over the thread that it has chosen at some random points (Emmi,
//           Qadeer, Rakamarić, POPL 2011)
//
// Fairness. A thread that only yields, spins or polls cannot keep another enabled thread from
// running. FAIR and PCT serve yielding threads in turn. POS does so up to the order within a
// window: after HD_POS_WINDOW / HD_POS_STRIDE further draws, a waiting thread precedes all new
// ones. RANDOM is fair with probability 1. A thread that does not yield but runs alone for
// HD_QUANTUM points counts as yielding, because it may poll in a way that the runtime does not
// recognise. An enabled thread that has waited for HD_STARVED points, perhaps because it is held, takes
// precedence. A thread may be enabled only for moments, between an unlock and the next lock of another thread. So decisions are
// strongly fair (choose_strongly) in the fair windows, and from the beginning of the fair phase on.
#include "core/holds.h"
#include "core/modules.h"
#include "core/interrupts.h"
#include "core/policy.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"

static uint64_t next_of(uint64_t *state) { // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static uint64_t random_bits(void) { return next_of(&hd.rng); }

static uint64_t fair_bits(void) { return next_of(&hd.fair_rng); }

static int64_t fresh(void) { return (int64_t)(random_bits() >> 2) | 1ll << 61; }

static uint32_t draw(uint64_t n) { return n == 1 ? 0 : (uint32_t)((random_bits() >> 32) * n >> 32); }

static const uint64_t *weights, *interesting; // of the plan, for WALK

void hd_policy_begin(void) {
  hd.prio_low = 0;
  hd.nchange = 0;
  hd.delays = 0;
  hd.intended = ~0u;
  hd.late = hd.suspected = false;
  hd.passed = 0;
  hd.fair_at = hd.fair_until = hd.vain = 0;
  hd.fair_rng = hd_mix(hd.seed, HD_FAIR_SALT);
  if (hd.plan.policy == HD_POLICY_WALK) {
    weights = (const uint64_t *)((const struct hd_hold *)(hd.names + hd.plan.nthreads + hd.plan.npoints) + hd.plan.nholds);
    interesting = weights + hd.plan.nweights;
  }
  if (hd.plan.policy == HD_POLICY_PCT || hd.plan.policy == HD_POLICY_DELAY) {
    uint32_t d = hd.plan.param0, k = hd.plan.param1 ? hd.plan.param1 : 1;
    for (uint32_t i = hd.plan.policy == HD_POLICY_PCT; i < d && hd.nchange < sizeof hd.change / sizeof *hd.change; i++)
      hd.change[hd.nchange++] = 1 + (uint32_t)(random_bits() % k);
  }
}

void hd_policy_thread(struct hd_thread *t) {
  t->prio = fresh();
  t->ran = t->acted = hd.points;
  if (HD_UNLIKELY(hd.intended == t->index)) hd.intended = ~0u; // it was an earlier thread in this slot
  if (HD_UNLIKELY(hd.plan.nholds)) hd_holds_thread(t);
}

// Sets the events that a new thread of the program has left. Those of a thread include all that it is still to create.
void hd_policy_weigh(struct hd_thread *t, struct hd_thread *parent) {
  if (HD_LIKELY(hd.plan.policy != HD_POLICY_WALK)) return;
  t->left = hd.plan.nweights && t->planned ? weights[t->planned - 1] : 0;
  if (!parent) return;
  uint64_t all = parent->left;
  parent->left = all > t->left ? all - t->left : 0;
  if (hd.intended == parent->index && t->left && all && draw(all) < t->left) hd.intended = t->index;
}

// Reports whether t's pending operation is one of those that WALK counts.
static bool counts(const struct hd_thread *t) {
  uint32_t n = hd.plan.ninteresting;
  if (!n) return true;
  if (!t->pend.pc || t->pend.flags & HD_EV_FORCED || t->pend.op == HD_OP_THREAD_START) return false;
  uint64_t pc = hd_name(t->pend.pc);
  const uint64_t *at = interesting;
  for (; n > 1; n -= n / 2)
    if (at[n / 2] <= pc) at += n / 2;
  return *at == pc;
}

// A loop that polls under a lock makes progress in each round by acquiring and releasing it. It
// does not count as spinning and would starve all other threads without this limit.
static bool monopolises(const struct hd_thread *t) {
  return t->index == hd.last && hd.points - hd.since >= HD_QUANTUM;
}

void hd_policy_fair(void) {
  bool due = hd.points >= (hd.plan.fair_after ? hd.plan.fair_after : hd.plan.max_steps / 2);
  if (!hd.suspected && (!due || (hd.plan.script_mode == HD_SCRIPT_TOLERANT && hd.pos < hd.plan.nsteps))) return;
  hd.late = true;
  hd.fair_at = hd.points;
  hd.fair_rng = hd_mix(hd.seed + hd.plan.fair_seed, HD_FAIR_SALT + 1);
  hd.progress_at = hd.points; // what follows has a time of its own
}

bool hd_policy_due(const struct hd_thread *t) {
  uint64_t next = hd.points + 1;
  return hd.late || hd.suspected || next >= (hd.plan.fair_after ? hd.plan.fair_after : hd.plan.max_steps / 2) ||
         next < hd.fair_until || next - hd.fair_until >= HD_FAIR_EVERY || !(next & (HD_STARVED_EVERY - 1)) || hd_spinning(t) ||
         monopolises(t);
}

// Spinning threads take turns at each scheduling point. Two that retry in lockstep could then
// undo each other's attempts endlessly, which does not happen on a real machine. After HD_STALEMATE
// points without progress, each therefore gets several points in a row.
static bool gives_way(const struct hd_thread *t) {
  if (t->pend.op == HD_OP_YIELD || (t->pend.op == HD_OP_SLEEP && !t->wait.interrupted) || monopolises(t)) return true;
  return hd_spinning(t) && (HD_LIKELY(hd.points - hd.progress_at < HD_STALEMATE) || random_bits() % HD_STRETCH == 0);
}

HD_ON_SIDE_STACK(void, hd_policy_arrive, (struct hd_thread *t)) {
  switch (hd.plan.policy) {
  case HD_POLICY_DELAY:
    for (uint32_t i = 0; i < hd.nchange; i++)
      if (hd.change[i] && hd.change[i] <= hd.points - hd.passed) {
        hd.delays++;
        hd.change[i] = 0;
      }
    break;
  case HD_POLICY_PCT:
    for (uint32_t i = 0; i < hd.nchange; i++)
      // A change point at a timer's expiry applies to the next thread that arrives.
      if (hd.change[i] && hd.change[i] <= hd.points - hd.passed) { // below initial priorities, above yielding threads
        t->prio = 1 + i;
        hd.change[i] = 0; // a thread created at this point keeps its own priority
      }
    if (gives_way(t)) t->prio = hd.prio_low--;
    break;
  case HD_POLICY_POS:
    if (gives_way(t)) {
      hd.prio_low -= HD_POS_STRIDE;
      t->prio = hd.prio_low - (int64_t)(random_bits() % HD_POS_WINDOW);
    } else {
      t->prio = fresh();
    }
    break;
  }
}

static bool conflicts(uint16_t a, uint16_t b) {
  return !((a == HD_OP_READ || a == HD_OP_READ_RANGE || a == HD_OP_ATOMIC_LOAD) &&
           (b == HD_OP_READ || b == HD_OP_READ_RANGE || b == HD_OP_ATOMIC_LOAD));
}

void hd_policy_done(struct hd_thread *t) {
  if (HD_UNLIKELY(hd.plan.policy == HD_POLICY_WALK) && counts(t)) {
    if (t->left) t->left--;
    hd.intended = ~0u;
  }
  if (hd.plan.policy != HD_POLICY_POS) return;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u != t && t->pend.obj && u->pend.obj == t->pend.obj && !gives_way(u) && conflicts(u->pend.op, t->pend.op)) u->prio = fresh();
    }
}

// Returns the slot of the k-th enabled thread.
static uint32_t nth(uint32_t k) {
  for (uint32_t w = 0;; w++) {
    uint64_t m = hd.enabled.w[w];
    uint32_t c = (uint32_t)__builtin_popcountll(m);
    if (k >= c) { k -= c; continue; }
    while (k--) m &= m - 1;
    return w * 64 + (uint32_t)__builtin_ctzll(m);
  }
}

static uint32_t next_after(uint32_t i) {
  uint32_t w = i >> 6;
  uint64_t m = (i & 63) == 63 ? 0 : hd.enabled.w[w] & ~0ull << ((i & 63) + 1);
  for (uint32_t n = 0; n <= hd.nwords; n++) {
    if (m) return w * 64 + (uint32_t)__builtin_ctzll(m);
    w = w + 1 == hd.nwords ? 0 : w + 1;
    m = hd.enabled.w[w];
  }
  return i;
}

// Returns a timer whose time has come: it fires first, but not twice in a row, so that a short period
// starves no thread. Returns -1 without one.
static int32_t due_timer(void) {
  if (HD_UNLIKELY(hd.ntimers))
    for (uint32_t i = 0; i < hd.nthreads; i++)
      if (hd_threads[i].fires && i != hd.last && hd_has(&hd.enabled, i)) return (int32_t)i;
  return -1;
}

// Strong fairness: a thread that is enabled at infinitely many decisions is chosen infinitely often,
// with probability 1. At each decision the running thread is left with a probability that has a lower
// bound in every other epoch, and then the enabled thread that has acted longest ago goes on in half of
// the cases. A thread's waiting makes it no younger, nor does becoming enabled.
static uint32_t choose_strongly(void) {
  int32_t timer = due_timer();
  if (timer >= 0) return (uint32_t)timer;
  struct hd_thread *cur = hd.cur;
  bool stays = !cur->ended && hd_has(&hd.enabled, cur->index);
  if (stays && cur->pend.op != HD_OP_YIELD && (cur->pend.op != HD_OP_SLEEP || cur->wait.interrupted)) {
    uint64_t odds = hd_spinning(cur) ? 2 : hd.late && (hd.points - hd.fair_at) / HD_FAIR_EPOCH % 2 ? HD_FAIR_LONG : HD_FAIR_SHORT;
    if (fair_bits() % odds) return cur->index;
  }
  if (stays) hd_del(&hd.enabled, cur->index);
  uint32_t n = 0;
  struct hd_thread *oldest = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1, n++) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!oldest || u->acted < oldest->acted) oldest = u;
    }
  uint32_t i = n ? oldest->index : cur->index;
  uint64_t r = n > 1 ? fair_bits() : 1;
  if (!(r & 1)) i = nth((uint32_t)((r >> 32) * n >> 32));
  if (stays) hd_add(&hd.enabled, cur->index);
  return i;
}

static uint32_t choose_fair(void) {
  struct hd_thread *t = hd.cur;
  int32_t timer = due_timer();
  if (timer >= 0) return (uint32_t)timer;
  if (!t->ended && hd_has(&hd.enabled, t->index) && !gives_way(t)) return t->index;
  return next_after(t->index);
}

// Returns a random enabled thread that is not in a yield of its own computation, because such a
// thread would compute for a long time again; -1 if there is no other enabled thread.
static HD_COLD int32_t choose_not_computing(void) {
  uint32_t n = 0;
  for (uint32_t pass = 0, k = 0; pass < 2; pass++) {
    for (uint32_t w = 0; w < hd.nwords; w++)
      for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
        uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
        if (hd_threads[i].progress.computes) continue;
        if (pass == 0) n++;
        else if (k-- == 0) return (int32_t)i;
      }
    if (!n) break;
    k = n == 1 ? 0 : (uint32_t)(((random_bits() >> 32) * n) >> 32);
  }
  return -1;
}

static uint32_t choose_random(void) {
  if (hd.plan.param0 && !hd.cur->ended && hd_has(&hd.enabled, hd.cur->index) &&
      !gives_way(hd.cur) && (random_bits() & 0xffff) < hd.plan.param0)
    return hd.cur->index;
  if (HD_UNLIKELY(hd.ncomputing)) {
    int32_t i = choose_not_computing();
    if (i >= 0) return (uint32_t)i;
  }
  uint32_t n = 0;
  for (uint32_t w = 0; w < hd.nwords; w++) n += (uint32_t)__builtin_popcountll(hd.enabled.w[w]);
  return nth(draw(n));
}

// Draws the thread whose interesting event is to come next, in proportion to the remaining ones of all
// threads that live; ~0 if none are known.
static uint32_t draw_intended(void) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < hd.nthreads; i++)
    if (!hd_threads[i].ended) all += hd_threads[i].left;
  if (!all) return ~0u;
  uint64_t k = draw(all);
  for (uint32_t i = 0;; i++) {
    if (hd_threads[i].ended) continue;
    if (k < hd_threads[i].left) return i;
    k -= hd_threads[i].left;
  }
}

// Reports whether an enabled thread may be chosen under WALK. computing: one that is in a yield of its own
// computation may; every: one that stands before an interesting event and is not intended may.
static bool may_walk(const struct hd_thread *t, bool computing, bool every) {
  return (computing || !t->progress.computes) && (every || t->index == hd.intended || !counts(t));
}

static uint64_t share(const struct hd_thread *t) { return hd.plan.ninteresting || !t->left ? 1 : t->left; }

static uint32_t choose_walk(void) {
  if (hd.plan.ninteresting && (hd.intended == ~0u || hd_threads[hd.intended].ended)) hd.intended = draw_intended();
  bool computing = true;
  uint64_t all = 0, quiet = 0;
  for (uint32_t pass = 0; !all && pass < 2; pass++) {
    bool every = pass || !hd.plan.ninteresting || hd.intended == ~0u;
    for (uint32_t w = 0; w < hd.nwords; w++)
      for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
        const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
        if (!may_walk(u, true, every)) continue;
        all += share(u);
        if (!u->progress.computes) quiet += share(u);
      }
    computing = !quiet;
    if (!all) continue;
    uint64_t k = draw(computing ? all : quiet);
    for (uint32_t w = 0;; w++)
      for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
        uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
        if (!may_walk(&hd_threads[i], computing, every)) continue;
        if (k < share(&hd_threads[i])) return i;
        k -= share(&hd_threads[i]);
      }
  }
  return choose_fair(); // not reached: some thread is enabled
}

static uint32_t choose_delayed(void) {
  uint32_t i = choose_fair();
  for (; hd.delays; hd.delays--) i = next_after(i);
  return i;
}

static uint32_t choose_highest(void) {
  struct hd_thread *best = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!best || u->prio > best->prio) best = u;
    }
  return best->index;
}

// Returns the enabled thread that has waited longest, or NULL if none has waited too long.
static HD_COLD struct hd_thread *starving(void) {
  struct hd_thread *first = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.enabled.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!first || u->ran < first->ran) first = u;
    }
  return hd.points - first->ran >= HD_STARVED ? first : NULL;
}

// Ends u's wait, sleep or timer early, with that for the decision.
static uint32_t end_early(struct hd_thread *u) {
  u->detour = u->pend.op == HD_OP_COND_WAKE ? HD_OP_COND_TIMEOUT : 0;
  hd_overtaken(u);
  if (!u->detour) hd_early(u);
  return u->index;
}

// With TIMEOUTS, one decision in HD_EARLY_ODDS ends a timed wait or fires a timer before its
// deadline; with SPURIOUS, one ends a wait spuriously. A program with timers may make few other
// decisions, so there the first happens in one decision in HD_EARLY_TIMER_ODDS. Returns -1 if
// neither happens.
static int32_t choose_early(void) {
  bool timeouts = hd.plan.flags & HD_PLAN_TIMEOUTS && !(random_bits() & ((hd.ntimers ? HD_EARLY_TIMER_ODDS : HD_EARLY_ODDS) - 1));
  bool spurious = hd.plan.flags & HD_PLAN_SPURIOUS && !(random_bits() & (HD_EARLY_ODDS - 1));
  if (!timeouts && !spurious) return -1;
  uint32_t n = 0;
  struct hd_thread *pick = NULL;
  bool spuriously = false;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = (hd.timers.w[w] | hd.needers.w[w]) & ~hd.enabled.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (HD_UNLIKELY(hd.plan.nholds) && hd_held(u)) continue;
      bool early = timeouts && hd_has(&hd.timers, u->index) && u->pend.op != HD_OP_SLEEP && hd_may_overtake(u);
      if (!early && !(spurious && hd_detour_possible(u, HD_OP_SPURIOUS_WAKE))) continue;
      if (random_bits() % ++n) continue;
      pick = u;
      spuriously = !early;
    }
  if (!pick) return -1;
  if (!spuriously) return (int32_t)end_early(pick);
  pick->detour = HD_OP_SPURIOUS_WAKE;
  return (int32_t)pick->index;
}

// Where holds let time pass, the first deadline of the threads that are not held comes before they end. Returns -1 if
// no such thread has a deadline that the slack allows.
static HD_COLD int32_t choose_while_held(void) {
  struct hd_thread *first = NULL;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w] & ~hd.enabled.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (!hd_held(u) && (!first || u->wait.deadline < first->wait.deadline)) first = u;
    }
  return first && hd_may_overtake(first) ? (int32_t)end_early(first) : -1;
}

// Decides whether the chosen thread takes a signal before its operation. Under FAIR it does so at
// once, unless a handler has already interrupted its call: otherwise a thread that keeps sending
// signals would keep it in the call.
static void choose_detour(struct hd_thread *t, bool fair) {
  t->detour = hd_detour_needed(t);
  int sig = hd_signal_due(t);
  if (!sig) return;
  bool ready = hd_op_enabled(t);
  if ((ready || t->wait.due) && (fair ? t->wait.interrupted : random_bits() & 1)) return; // later
  bool can = hd_detour_possible(t, HD_OP_SIGNAL_INTERRUPT);
  bool must = !hd_detour_possible(t, HD_OP_SIGNAL_DELIVER);
  if (must && !can && ready) return;
  t->detour = must || (can && (fair || random_bits() & 1)) ? HD_OP_SIGNAL_INTERRUPT : HD_OP_SIGNAL_DELIVER;
}

static bool in_window(void) {
  if (HD_LIKELY(hd.points >= hd.fair_until)) {
    if (HD_LIKELY(hd.vain < HD_FAIR_VAIN && hd.points - hd.fair_until < HD_FAIR_EVERY)) return false;
    hd.fair_until = hd.points + HD_FAIR_WINDOW;
  }
  hd.vain = 0;
  return true;
}

uint32_t hd_policy_choose(void) {
  bool strongly = HD_UNLIKELY(hd.late) || in_window();
  bool fair = strongly || hd.plan.policy == HD_POLICY_FAIR;
  struct hd_thread *starved = !fair && HD_UNLIKELY(!(hd.points & (HD_STARVED_EVERY - 1))) ? starving() : NULL;
  if (HD_UNLIKELY(starved != NULL)) {
    starved->detour = hd_detour_needed(starved);
    return starved->index;
  }
  if (HD_UNLIKELY(hd.plan.flags & (HD_PLAN_TIMEOUTS | HD_PLAN_SPURIOUS)) && !hd.late) {
    int32_t i = choose_early();
    if (i >= 0) return (uint32_t)i;
  }
  if (HD_UNLIKELY(hd.plan.nholds) && hd.next_deadline != ~0ull && hd_holds_wait()) {
    int32_t i = choose_while_held();
    if (i >= 0) return (uint32_t)i;
  }
  uint32_t i;
  bool offered = !fair && HD_UNLIKELY(hd.next_deadline != ~0ull) && hd_sleepers_offer();
  bool hidden = HD_UNLIKELY(hd.plan.nholds) && hd_holds_hide();
  if (strongly) i = choose_strongly();
  else if (fair) i = choose_fair();
  else if (hd.plan.policy == HD_POLICY_RANDOM) i = choose_random();
  else if (hd.plan.policy == HD_POLICY_WALK) i = choose_walk();
  else if (hd.plan.policy == HD_POLICY_DELAY) i = choose_delayed();
  else i = choose_highest();
  if (hidden) hd_holds_show();
  struct hd_thread *t = &hd_threads[i];
  if (offered) hd_sleepers_withdraw(t);
  t->detour = 0;
  if (HD_UNLIKELY(hd.npending || t->wait.due)) choose_detour(t, fair);
  return i;
}

// Selects the waiter a signal wakes: the script's if it names one, else the first in the queue
// under FAIR and a random one under the other policies. No decision is needed when all or all
// remaining waiters are woken.
HD_ON_SIDE_STACK(uint32_t, hd_policy_waiter, (uint64_t op, uint64_t obj, bool choice)) {
  bool first_come = !choice || (hd.plan.policy == HD_POLICY_FAIR && hd.plan.script_mode != HD_SCRIPT_TOLERANT);
  uint32_t n = 0;
  struct hd_thread *pick = NULL;
  uint64_t first = 0;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = HD_UNLIKELY(hd.nsuspended) ? ~0ull : hd.needers.w[w]; m; m &= m - 1) {
      uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
      if (i >= hd.nthreads) break;
      struct hd_thread *u = &hd_threads[i];
      if (!hd.nsuspended && (u->pend.op != op || u->pend.obj != obj)) continue;
      uint64_t arrival;
      if (!hd_can_wake(u, (uint16_t)op, obj, &arrival)) continue;
      if ((int32_t)i == hd.wake_choice) return i;
      n++;
      if (!pick || (first_come ? arrival < first : random_bits() % n == 0)) {
        pick = u;
        first = arrival;
      }
    }
  return pick ? pick->index : ~0u;
}
