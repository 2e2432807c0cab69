// watch.c: watches executions for data races (HD_PLAN_WATCH). It passes operations to order.c, which
// maintains happens-before, and accesses to shadow.c, which remembers them. The access hooks call
// shadow.c directly, except for instructions that are scheduling points. The runtime sends each race
// as it finds it, and the profile of the instructions at the end, but no record for an access.
#include <errno.h>
#include "core/fiber.h"
#include "core/modules.h"
#include "core/rings.h"
#include "memory/heap.h"
#include "memory/operations.h"
#include "memory/shadow.h"
#include "memory/visits.h"
#include "memory/watch.h"

static void stop(void) {
  hd_visits_end();
  hd.watcher = NULL;
  hd_accesses_changed();
  hd.result.notes |= HD_NOTE_UNWATCHED;
}

// ---- lifetimes of synchronisation objects and descriptors (internal/ops, Lifetimes, and
// internal/analysis/race, Detector.living)

static bool closed[HD_FD_NUMBERS]; // descriptors closed and not seen open since

// Returns the object that names a descriptor, 0 if the operation on it cannot race. Sets *life.
static uint64_t descriptor(uint64_t fd, int32_t result, uint8_t *life) {
  if (fd >= HD_FD_NUMBERS || (*life == HD_LIFE_RENEWAL && result)) return 0;
  uint64_t object = 1ull << HD_FD_OBJECT_BIT | (uint64_t)HD_FD_NUMBER << HD_FD_KIND_SHIFT | fd << HD_FD_SHIFT;
  bool failed = result == EBADF, was = closed[fd];
  if (*life == HD_LIFE_RENEWAL || (was && !failed)) hd_shadow_reset(object, 1);
  if (!failed) closed[fd] = *life == HD_LIFE_BOUND;
  else *life = HD_LIFE_USE;
  return *life == HD_LIFE_RENEWAL || (failed && !was) ? 0 : object;
}

static struct hd_clock before; // of a newcomer

static void living(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  const struct hd_meaning *m = &hd_meanings[t->pend.op];
  uint8_t life = m->life;
  uint64_t object = t->pend.obj;
  if (result == ECANCELED || (life == HD_LIFE_BOUND && result && m->of != HD_OF_DESCRIPTOR)) object = 0;
  else if (m->of == HD_OF_DESCRIPTOR) object = descriptor(t->pend.aux, result, &life);
  // Code without access hooks may order its operations by atomics that heddle does not see.
  if (object && !hd_calls_hooks(t->pend.pc)) {
    if (life == HD_LIFE_BOUND) hd_shadow_reset(object, 1);
    object = 0;
  }
  struct hd_order *o = object ? hd_order_of(t) : NULL;
  bool newcomer = o && !o->named && (m->does == HD_DOES_ACQUIRE || m->does == HD_DOES_ACQUIRE_SHARED || m->does == HD_DOES_DOWN);
  if (newcomer) { // it may take over the chain of a thread that it acquires from
    hd_clock_set(&before, &o->clock);
  } else if (o) {
    hd_shadow_lifetime(t, object, life == HD_LIFE_BOUND, &o->clock);
  }
  hd_order_event(t, value, result, flags);
  if (newcomer) hd_shadow_lifetime(t, object, life == HD_LIFE_BOUND, &before);
}

static void event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  switch (t->pend.op) {
  case HD_OP_ATOMIC_LOAD: case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: case HD_OP_ATOMIC_CAS:
    hd_shadow_arrive(t);
  }
  if (HD_UNLIKELY(hd_meanings[t->pend.op].life)) living(t, value, result, flags);
  else hd_order_event(t, value, result, flags);
  switch (t->pend.op) {
  case HD_OP_READ: case HD_OP_WRITE:
    if (t->pend.obj) hd_shadow_point(t, t->pend.obj, t->pend.size ? t->pend.size : 1, t->pend.op, t->pend.pc);
    break;
  case HD_OP_READ_RANGE: case HD_OP_WRITE_RANGE: case HD_OP_FREE:
    if (t->pend.obj && t->pend.size) hd_shadow_point(t, t->pend.obj, t->pend.size, t->pend.op, t->pend.pc);
    break;
  case HD_OP_ATOMIC_LOAD: case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: case HD_OP_ATOMIC_CAS:
    hd_shadow_atomic(t, result);
    break;
  case HD_OP_SIGNAL_DELIVER: case HD_OP_SIGNAL_INTERRUPT: case HD_OP_SIGNAL_RETURN:
    t->serial = 0; // the depth of handlers has changed
  }
  if (HD_UNLIKELY(hd_shadow_full())) stop();
}

static bool watched, possible; // the current execution is watched; memory for watching is available

static void begin(void) {
  hd_visits_end(); // of an execution that was given up
  hd.watcher = NULL;
  watched = hd.plan.flags & HD_PLAN_WATCH;
  if (!watched) return;
  hd_heap_begin();
  possible = hd_shadow_begin(hd.plan.watch_budget);
  hd_fill(closed, 0, sizeof closed);
  before = (struct hd_clock){ 0 }; // its memory belonged to an earlier execution
  if (possible && hd.plan.flags & HD_PLAN_VISITS) hd_visits_begin();
  if (possible) hd.watcher = event;
  else stop();
}

static void report(struct hd_result *r) {
  if (watched && possible) {
    if (hd_shadow_full()) stop();
    r->watched = hd_shadow_report();
  }
  watched = false;
  hd_visits_end();
  hd.watcher = NULL;
}

// Forgets accesses to the thread-local variables and the stack, which a new thread reuses.
static void host_reused(struct hd_host *h) {
  if (hd.watcher) hd_shadow_reset(h->lo, h->hi - h->lo);
}

const struct hd_registration hd_watch = { .begin = begin, .report = report, .host_reused = host_reused };
