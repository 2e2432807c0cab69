// threads.c: creates threads, finds them, and reports them to the controller.
#include "core/event.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/policy.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"

enum { MOST = 1 << 20 }; // trace.MaxThreads: those that have ended count, too

void hd_thread_planned(struct hd_thread *t, struct hd_thread *parent, bool code) {
  hd_policy_thread(t);
  if (hd.plan.nthreads) hd_script_thread(t);
  if (code || !parent) hd_policy_weigh(t, parent);
}

struct hd_thread *hd_thread_new(struct hd_thread *parent, bool code) {
  if (hd.nborn == MOST) hd_end(HD_OUT_UNFINISHED, 0, parent->pend.pc, 0, "threads");
  struct hd_host *d = NULL;
  struct hd_thread *t = hd_slot_get(code ? &d : NULL);
  uint32_t i = t->index;
  hd_fill(t, 0, offsetof(struct hd_thread, calls.frames));
  t->index = i;
  t->number = hd.nborn++;
  t->host = d;
  t->fs = d ? d->fs : hd_main_fs;
  t->stack.touched_low = ~0ull;
  if (parent) {
    t->parent = parent->number;
    t->nth = ++parent->children;
    t->name = hd_mix(parent->name, t->nth);
    t->signals.mask = parent->signals.mask;
    if (d) d->owner = t;
  } else {
    t->parent = ~0u;
    t->name = HD_NAME_MAIN;
    HD_CALL_MODULES(main, t);
  }
  hd.nlive++;
  hd_thread_planned(t, parent, code);
  if (HD_UNLIKELY(hd.record)) hd_event_slot(t);
  return t;
}

uintptr_t hd_stack_hi(const struct hd_thread *t) {
  return t->fires ? 0 : t->stack.hi ? t->stack.hi : t->host ? t->host->hi : hd_main_sp;
}

HD_ON_SIDE_STACK(void, hd_thread_tell, (const struct hd_thread *t)) {
  if (!hd.record) return;
  hd_event_flush();
  hd_thread_report(t);
}

void hd_thread_report(const struct hd_thread *t) {
  uint64_t size = hd_stack_hi(t) - hd_stack_lo(t);
  struct hd_thread_info info = {
    .number = t->number, .parent = t->parent, .nth = t->nth,
    .flags = (t->ended ? 1u : 0) | (t->detached ? 2u : 0) | (t->joined ? 4u : 0) | (t->fires ? 16u : 0),
    .name = t->name, .entry = hd_name((uint64_t)t->entry),
    .stack_hi = hd_stack_hi(t), .stack_size = size,
  };
  if (t->attributes.labelled) hd_copy(info.label, t->attributes.label, sizeof info.label - 1);
  hd_out(HD_REC_THREAD, &info, sizeof info);
}

struct hd_thread *hd_thread_of(uintptr_t id) {
  for (uint32_t i = hd.nthreads; i--;)
    if (hd_threads[i].fs == id && !hd_threads[i].fires) return &hd_threads[i];
  return NULL;
}

bool hd_only_thread(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u != hd.cur && !u->ended && !u->fires) return false;
  }
  return true;
}
