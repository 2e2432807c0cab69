// watch.c: watches executions for data races (HD_PLAN_WATCH). It passes operations to order.c, which
// maintains happens-before, and accesses to shadow.c, which remembers them. The access hooks call
// shadow.c directly, except for instructions that are scheduling points. The runtime sends each race
// as it finds it, and the profile of the instructions at the end, but no record for an access.
#include "core/fiber.h"
#include "core/rings.h"
#include "memory/heap.h"
#include "memory/operations.h"
#include "memory/shadow.h"
#include "memory/watch.h"

static void stop(void) {
  hd.watcher = NULL;
  hd_accesses_changed();
  hd.result.notes |= HD_NOTE_UNWATCHED;
}

static void event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  switch (t->pend.op) {
  case HD_OP_ATOMIC_LOAD: case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: case HD_OP_ATOMIC_CAS:
    hd_shadow_arrive(t);
  }
  hd_order_event(t, value, result, flags);
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
  hd.watcher = NULL;
  watched = hd.plan.flags & HD_PLAN_WATCH;
  if (!watched) return;
  hd_heap_begin();
  possible = hd_shadow_begin(hd.plan.watch_budget);
  if (possible) hd.watcher = event;
  else stop();
}

static void report(struct hd_result *r) {
  if (watched && possible) {
    if (hd_shadow_full()) stop();
    r->watched = hd_shadow_report();
  }
  watched = false;
  hd.watcher = NULL;
}

// Forgets accesses to the thread-local variables and the stack, which a new thread reuses.
static void host_reused(struct hd_host *h) {
  if (hd.watcher) hd_shadow_reset(h->lo, h->hi - h->lo);
}

const struct hd_registration hd_watch = { .begin = begin, .report = report, .host_reused = host_reused };
