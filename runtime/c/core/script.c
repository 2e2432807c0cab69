// script.c: follows a schedule (docs/scheduler.md).
//
// STRICT: the step's thread must be enabled with the step's operation pending; anything
// else ends the execution as DIVERGED and reports the step.
//
// TOLERANT (FSE'10 §4.2.1): follows the script TEI by TEI. A thread off its path runs until
// the rest of its TEI expects its pending operation again. The runtime skips the rest
// of a TEI whose thread is blocked, ended, not yet created, or only waits for others while off
// its path. A signal that woke no thread in the script but now finds waiters wakes one at random
// (policy.c). After the script's end the policy decides.
#include "core/interrupts.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/outside.h"
#include "core/own_memory.h"
#include "core/policy.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"

// The step budget equals the length of a strict script, so the execution ends with the script.
// hd.points cannot tell when that is: it counts arrivals at scheduling points, and some steps have none.
static bool ends_with_script;

// Maps names of threads to indices in the plan's table. Most threads are created in the order of
// the table; a hash table finds the others if the table is longer than SHORT.
enum { SHORT = 16 };
static uint32_t *by_name; // plan index + 1
static uint32_t room, hashes, expected;
static uint64_t indexed;  // id of the plan that by_name is for

static uint32_t place(uint64_t name) { return (uint32_t)(hd_mix(name, 0x73) >> 32) & (hashes - 1); }

static void index_names(void) {
  hd_fill(by_name, 0, sizeof *by_name * hashes);
  for (uint32_t i = 0; i < hd.plan.nthreads; i++) {
    uint32_t h = place(hd.names[i]);
    while (by_name[h] && hd.names[by_name[h] - 1] != hd.names[i]) h = (h + 1) & (hashes - 1);
    if (!by_name[h]) by_name[h] = i + 1;
  }
  indexed = hd.plan.id;
}

static uint32_t find(uint64_t name) {
  uint32_t n = hd.plan.nthreads;
  if (expected < n && hd.names[expected] == name) return expected;
  if (n > SHORT) {
    for (uint32_t h = place(name); by_name[h]; h = (h + 1) & (hashes - 1))
      if (hd.names[by_name[h] - 1] == name) return by_name[h] - 1;
    return ~0u;
  }
  for (uint32_t i = 0; i < n; i++)
    if (hd.names[i] == name) return i;
  return ~0u;
}

void hd_script_begin(void) {
  hd.pos = 0;
  ends_with_script = hd.plan.nsteps && hd.plan.script_mode == HD_SCRIPT_STRICT && hd.plan.max_steps == hd.plan.nsteps;
  if (ends_with_script) hd.plan.max_steps = ~0u;
  hd.dev_run = 0;
  uint32_t n = hd.plan.nthreads;
  if (n > room) {
    room = n < 1024 ? 1024 : n + n / 2;
    hd.plan_to_slot = hd_map(sizeof *hd.plan_to_slot * room, "the script's threads");
    for (hashes = 2048; hashes < 2 * room;) hashes *= 2;
    by_name = hd_map(sizeof *by_name * hashes, "the names of the script's threads");
    indexed = 0;
  }
  if (n) hd_fill(hd.plan_to_slot, 0, sizeof *hd.plan_to_slot * n);
  if (n > SHORT && indexed != hd.plan.id) index_names();
  expected = 0;
}

void hd_script_thread(struct hd_thread *t) {
  uint32_t i = find(t->name);
  if (i == ~0u) return;
  expected = i + 1;
  hd.plan_to_slot[i] = t->index + 1;
  t->planned = i + 1;
}

// Returns the thread with index i in the plan's table; NULL: it has not been created, or its slot
// has been reused.
static struct hd_thread *planned(uint32_t i) {
  uint32_t slot = i < hd.plan.nthreads ? hd.plan_to_slot[i] : 0;
  return slot && hd_threads[slot - 1].planned == i + 1 ? &hd_threads[slot - 1] : NULL;
}

static struct hd_thread *thread_of(const struct hd_step *s) { return planned(s->thread); }

// The thread that ends last ends the process instead: another one, in another order.
static bool last_end(uint64_t op) { return op == HD_OP_THREAD_END || op == HD_OP_PROCESS_EXIT; }

// Reports whether the step's operation is the thread's pending one. Its instruction is compared apart.
static bool pends(const struct hd_thread *t, const struct hd_step *s) {
  return t->pend.op == s->op || (s->pc == 0 && last_end(s->op) && last_end(t->pend.op));
}

// Reports whether the thread may perform the step next: its pending operation or a detour.
static bool matches(const struct hd_thread *t, const struct hd_step *s) {
  return (uint32_t)hd_name(t->pend.pc) == s->pc && (pends(t, s) || hd_detour_possible(t, s->op));
}

static void take_wake(const struct hd_step *s) {
  hd.wake_choice = -1;
  const struct hd_thread *u = s->aux ? planned(s->aux - 1) : NULL;
  if (u) hd.wake_choice = (int32_t)u->index;
}

// Reports whether t may pass its deadline now, before its time. A strict script repeats what was
// recorded. A tolerant one may have departed from the recorded execution: it overtakes only within
// the plan's slack, and only at TIMEOUT steps or in a sleep, whose length orders nothing.
static bool overtakes(const struct hd_thread *t, const struct hd_step *s) {
  bool recorded = s->flags & HD_STEP_TIMEOUT;
  if (recorded && hd.plan.script_mode == HD_SCRIPT_STRICT) return true;
  if (!recorded && (t->pend.op != HD_OP_SLEEP || hd_timer_before(t->wait.deadline))) return false;
  return hd_may_overtake(t);
}

// Prepares the thread to perform a step it matches; false if it cannot now.
static bool take(struct hd_thread *t, const struct hd_step *s) {
  if (!pends(t, s)) {
    if (s->op == HD_OP_COND_TIMEOUT && !t->wait.due) {
      if (!overtakes(t, s)) return false;
      hd_overtaken(t);
    }
    t->detour = s->op;
  } else {
    if (hd_owes(t)) return false; // a signal comes first
    bool ready = hd_op_enabled(t) || (hd_has(&hd.enabled, t->index) && !hd_enabled(t)); // the latter: hd_point records EAGAIN
    if (HD_UNLIKELY(!ready) && !t->wait.timed) // one that is enabled and not ready has a signal to take
      return t->wait.on && !hd_has(&hd.enabled, t->index) && hd_outside_for(t) && take(t, s);
    if (!ready) {
      if (!t->wait.timed || t->pend.op == HD_OP_COND_WAKE || !overtakes(t, s)) return false;
      hd_overtaken(t);
      hd_early(t);
    }
    t->detour = 0;
    take_wake(s);
  }
  return true;
}

static _Noreturn HD_COLD void diverged(struct hd_thread *t) {
  hd.result.met_thread = ~0u;
  if (t) {
    hd.result.met_thread = t->planned - 1;
    hd.result.met_op = t->pend.op;
  }
  hd_end(HD_OUT_DIVERGED, (int32_t)hd.pos, t ? t->pend.pc : 0, t ? t->pend.obj : 0, NULL);
}

static int32_t strict(bool rehearsal) {
  const struct hd_step *s = &hd.steps[hd.pos];
  struct hd_thread *t = thread_of(s);
  if (t && t->ended) t = NULL;
  if (!t || !matches(t, s) || !take(t, s)) {
    if (rehearsal) return HD_SCRIPT_DIVERGES;
    diverged(t);
  }
  if (++hd.pos == hd.plan.nsteps && ends_with_script) hd.plan.max_steps = hd.points;
  return (int32_t)t->index;
}

static void next_interval(void) {
  do {
    hd.pos++;
    hd.deviations++;
  } while (hd.pos < hd.plan.nsteps && !(hd.steps[hd.pos].flags & HD_STEP_TEI));
  hd.dev_run = 0;
}

static int32_t tolerant(void) {
  while (hd.pos < hd.plan.nsteps) {
    const struct hd_step *s = &hd.steps[hd.pos];
    struct hd_thread *t = thread_of(s);
    if (!t || t->ended) { next_interval(); continue; }
    if (matches(t, s) && take(t, s)) {
      hd.pos++;
      hd.dev_run = 0;
      return (int32_t)t->index;
    }
    if (!hd_has(&hd.enabled, t->index)) { next_interval(); continue; }
    // Off the path. Search the rest of the TEI for this operation.
    uint32_t end = hd.plan.nsteps - hd.pos < HD_LOOK_AHEAD ? hd.plan.nsteps : hd.pos + HD_LOOK_AHEAD;
    for (uint32_t j = hd.pos + 1; j < end && !(hd.steps[j].flags & HD_STEP_TEI); j++)
      if (matches(t, &hd.steps[j]) && take(t, &hd.steps[j])) {
        hd.deviations += j - hd.pos;
        hd.pos = j + 1;
        hd.dev_run = 0;
        return (int32_t)t->index;
      }
    if (s->op == HD_OP_YIELD) { // orders nothing: the runtime inserted it, or the path has changed
      hd.deviations++;
      if (++hd.pos < hd.plan.nsteps && hd.steps[hd.pos].flags & HD_STEP_TEI) hd.dev_run = 0;
      continue;
    }
    if (t->progress.computes && (hd.dev_run += HD_PATIENCE / 4) <= HD_PATIENCE) {
      t->detour = hd_detour_needed(t);
      return (int32_t)t->index;
    }
    // A thread that yields, sleeps or spins off its path waits for another thread.
    bool waits = t->pend.op == HD_OP_YIELD || t->pend.op == HD_OP_SLEEP || hd_spinning(t);
    if (waits || ++hd.dev_run > HD_PATIENCE) { next_interval(); continue; }
    hd.deviations++;
    hd.wake_choice = -1;
    t->detour = hd_detour_needed(t);
    return (int32_t)t->index;
  }
  return -1;
}

int32_t hd_script_choose(void) {
  return hd.plan.script_mode == HD_SCRIPT_STRICT ? strict(false) : tolerant();
}

int32_t hd_script_rehearse(void) {
  return hd.plan.script_mode == HD_SCRIPT_STRICT ? strict(true) : tolerant();
}
