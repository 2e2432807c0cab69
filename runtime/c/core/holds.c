// holds.c: holds (docs/scheduler.md). A hold keeps a thread before an instruction by hiding it from
// the policy. It never changes which threads are enabled, so it can neither cause a deadlock nor
// conceal one, and a script, which is followed regardless of holds, repeats the execution without
// them.
//
// Two properties of objects outlive the operations on them: which instruction changed an object
// last, and which holds' until was done on it. Both are remembered only for objects on which a hold
// depends.
#include "core/holds.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/progress.h"
#include "core/rings.h"

enum { SLOTS = 2 * HD_HOLD_OBJECTS };
struct object {
  uint64_t obj, last; // the object; the instruction that changed it last, 0: none that is remembered
  uint64_t done;      // the holds whose until was done on it
  uint32_t epoch;
};
static struct object *objects;
static uint32_t epoch, nobjects;

static const struct hd_hold *holds;
static struct hd_hold_count counts[HD_HOLDS];
static uint32_t (*arrivals)[HD_HOLDS]; // by slot: the thread's arrivals at each hold's site
static uint64_t done_once;             // the holds whose until was done on any object
static struct hd_set waiting;          // threads with holds for their pending operations
static struct hd_set held;             // those for which one was in force at the present decision
static uint32_t nheld;
static struct hd_set shown;            // hd.enabled, while threads are hidden

static bool of(const struct hd_hold *h, uint32_t flag) { return h->flags & flag; }

void hd_holds_begin(const struct hd_plan *p) {
  if (!objects) {
    objects = hd_map(sizeof *objects * SLOTS, "the objects of holds");
    arrivals = hd_map(sizeof *arrivals * HD_MAX_THREADS, "the arrivals at holds");
  }
  const uint64_t *points = hd.names + p->nthreads;
  holds = (const struct hd_hold *)(points + p->npoints);
  hd_fill(counts, 0, sizeof *counts * p->nholds);
  hd_fill(&waiting, 0, sizeof waiting);
  hd_fill(&held, 0, sizeof held);
  nheld = 0;
  done_once = 0;
  nobjects = 0;
  epoch++;
}

void hd_holds_thread(struct hd_thread *t) {
  hd_fill(arrivals[t->index], 0, sizeof *arrivals);
  hd_del(&waiting, t->index);
}

// Returns what is remembered of an object; NULL: nothing, and with make, that too many are.
static struct object *remembered(uint64_t obj, bool make) {
  for (uint32_t i = (uint32_t)(hd_mix(obj, 0x68) >> 20) % SLOTS;; i = (i + 1) % SLOTS) {
    struct object *o = &objects[i];
    if (o->epoch == epoch && o->obj == obj) return o;
    if (o->epoch == epoch) continue;
    if (!make || nobjects == HD_HOLD_OBJECTS) return NULL;
    nobjects++;
    *o = (struct object){ .obj = obj, .epoch = epoch };
    return o;
  }
}

static bool same_object(const struct hd_pending *a, const struct hd_pending *b) {
  uint64_t na = a->size ? a->size : 1, nb = b->size ? b->size : 1;
  return a->obj && b->obj && a->obj < b->obj + nb && b->obj < a->obj + na;
}

static bool passes(const struct hd_hold *h, const struct hd_thread *t, const struct hd_thread *u) {
  return !of(h, HD_HOLD_SAME) || same_object(&t->pend, &u->pend);
}

enum why { DONE, NOBODY, STEPS, SCRIPT };

// Ends hold i of t. It counts if the hold was in force.
static void end(struct hd_thread *t, uint32_t i, enum why why) {
  if (t->felt >> i & 1)
    switch (why) {
    case DONE: counts[i].done++; break;
    case NOBODY: counts[i].nobody++; break;
    case STEPS: counts[i].steps++; break;
    case SCRIPT: counts[i].script++; break;
    }
  t->holds &= ~(1ull << i);
  if (!t->holds) hd_del(&waiting, t->index);
}

// Reports whether t stands before an instruction of the program that holds may name.
static bool instruction(const struct hd_thread *t) {
  return t->pend.pc && !(t->pend.flags & HD_EV_FORCED) && t->pend.op != HD_OP_THREAD_START;
}

// Reports whether another thread stands before h's until, for a thread t that h would hold.
static bool stands(const struct hd_hold *h, const struct hd_thread *t) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u != t && !u->ended && !u->fires && instruction(u) && hd_name(u->pend.pc) == h->until && passes(h, t, u)) return true;
  }
  return false;
}

void hd_holds_arrive(struct hd_thread *t) {
  t->holds = t->felt = 0;
  hd_del(&waiting, t->index);
  if (!instruction(t)) return;
  uint64_t pc = hd_name(t->pend.pc);
  for (uint32_t i = 0; i < hd.plan.nholds; i++) {
    const struct hd_hold *h = &holds[i];
    if (h->site != pc || (h->thread != ~0u && h->thread + 1 != t->planned)) continue;
    uint32_t nth = ++arrivals[t->index][i];
    if (h->arrival && h->arrival != nth) continue;
    counts[i].arrived++;
    if (of(h, HD_HOLD_EVER)) {
      const struct object *o = of(h, HD_HOLD_SAME) ? remembered(t->pend.obj, false) : NULL;
      if ((of(h, HD_HOLD_SAME) ? o ? o->done : 0 : done_once) >> i & 1) continue;
    }
    if (of(h, HD_HOLD_REACHED) && stands(h, t)) continue;
    t->holds |= 1ull << i;
  }
  t->held_at = hd.points;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = waiting.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      for (uint64_t b = u->holds; b; b &= b - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(b);
        if (of(&holds[i], HD_HOLD_REACHED) && holds[i].until == pc && passes(&holds[i], u, t)) end(u, i, DONE);
      }
    }
  if (t->holds) hd_add(&waiting, t->index);
}

// Reports whether the object that t is about to touch is in the state in which h is in force.
static bool in_force(const struct hd_hold *h, const struct hd_thread *t) {
  if (!h->last) return true;
  const struct object *o = remembered(t->pend.obj, false);
  return (o && o->last == h->last) != of(h, HD_HOLD_NOT);
}

void hd_holds_look(void) {
  bool late = hd.late;
  nheld = 0;
  for (uint32_t w = 0; w < hd.nwords; w++) {
    held.w[w] = 0;
    for (uint64_t m = waiting.w[w]; m; m &= m - 1) {
      struct hd_thread *t = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      bool any = false;
      for (uint64_t b = t->holds; b; b &= b - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(b);
        const struct hd_hold *h = &holds[i];
        if (late || (h->steps && hd.points - t->held_at >= h->steps)) {
          end(t, i, STEPS);
        } else if (in_force(h, t)) {
          any = true;
          counts[i].held += !(t->felt >> i & 1);
          t->felt |= 1ull << i;
        }
      }
      if (!any) continue;
      hd_add(&held, t->index);
      nheld++;
    }
  }
}

bool hd_held(const struct hd_thread *t) { return nheld && hd_has(&held, t->index); }

void hd_holds_chosen(struct hd_thread *t, bool script) {
  if (!t->holds) return;
  enum why why = script ? SCRIPT : hd.points - t->ran >= HD_STARVED ? STEPS : NOBODY;
  for (uint64_t b = t->holds; b; b &= b - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(b);
    end(t, i, in_force(&holds[i], t) ? why : DONE);
  }
}

static bool changes(const struct hd_pending *p, int32_t result) {
  switch (p->op) {
  case HD_OP_READ: case HD_OP_READ_RANGE: case HD_OP_ATOMIC_LOAD: return false;
  case HD_OP_ATOMIC_CAS: return result;
  }
  return true;
}

void hd_holds_done(struct hd_thread *t, int32_t result) {
  if (!instruction(t)) return;
  uint64_t pc = hd_name(t->pend.pc), ever = 0;
  bool keep = false; // the plan depends on this instruction's changes
  for (uint32_t i = 0; i < hd.plan.nholds; i++) {
    const struct hd_hold *h = &holds[i];
    if (h->until == pc && of(h, HD_HOLD_EVER)) ever |= 1ull << i;
    keep = keep || h->last == pc;
  }
  done_once |= ever;
  if (t->pend.obj) {
    bool change = changes(&t->pend, result);
    struct object *o = remembered(t->pend.obj, ever || (keep && change));
    if (o) {
      o->done |= ever;
      if (change) o->last = pc;
    }
  }
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = waiting.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u == t) continue;
      for (uint64_t b = u->holds; b; b &= b - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(b);
        if (holds[i].until == pc && passes(&holds[i], u, t)) end(u, i, DONE);
      }
    }
}

// Reports whether u can do no more than wait for a thread that is not enabled or held: it spins, and
// has looked since anything changed.
static bool waits(const struct hd_thread *u) { return hd_spinning(u) && u->ran > hd.progress_at; }

// Reports whether all threads that are not held wait, and a held one is enabled.
static bool only_held(void) {
  bool blocked = true, some = false;
  for (uint32_t w = 0; w < hd.nwords; w++) {
    some = some || (hd.decision.w[w] & held.w[w]);
    for (uint64_t m = hd.enabled.w[w] & ~held.w[w]; m && blocked; m &= m - 1)
      blocked = waits(&hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)]);
  }
  return blocked && some;
}

bool hd_holds_hide(void) {
  if (!nheld) return false;
  bool only = only_held();
  for (uint32_t w = 0; w < hd.nwords; w++) {
    shown.w[w] = hd.enabled.w[w];
    hd.enabled.w[w] = only ? hd.decision.w[w] & held.w[w] : hd.enabled.w[w] & ~held.w[w];
  }
  return true;
}

bool hd_holds_wait(void) {
  if (!nheld || !only_held()) return false;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = held.w[w]; m; m &= m - 1) {
      const struct hd_thread *t = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      for (uint64_t b = t->holds; b; b &= b - 1)
        if (of(&holds[__builtin_ctzll(b)], HD_HOLD_TIME)) return true;
    }
  return false;
}

void hd_holds_show(void) {
  for (uint32_t w = 0; w < hd.nwords; w++) hd.enabled.w[w] = shown.w[w];
}

void hd_holds_report(void) { hd_out(HD_REC_HOLDS, counts, hd.plan.nholds * (uint32_t)sizeof *counts); }
