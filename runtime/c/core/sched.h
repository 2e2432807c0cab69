// sched.h: scheduling points, and what makes a pending operation enabled.
#ifndef HD_CORE_SCHED_H
#define HD_CORE_SCHED_H
#include "core/run.h"

void hd_point(struct hd_thread *t);     // pend is set; returns when t is chosen
void hd_forced_yield(struct hd_thread *t, uint64_t pc); // between two operations of its own
_Noreturn void hd_block_forever(struct hd_thread *t); // t will never be enabled
void hd_commit(struct hd_thread *t, uint64_t value, int32_t result); // the chosen operation is done
static inline void hd_site(uint64_t pc) { if (hd_active()) hd.cur->pend.pc = pc; } // where what follows is reported
void hd_commit_failed(void);            // it failed: the choice must be in the trace all the same
// The chosen thread did op (at the place of its pending operation) and goes on waiting.
void hd_commit_aside(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value, int32_t result, uint32_t flags);
// An event that was not a scheduling decision.
void hd_note(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value);
_Noreturn void hd_thread_leave(void);   // the running thread has ended: go elsewhere
// The common case: an operation that is always enabled.
static inline struct hd_thread *hd_op(uint16_t op, uint64_t pc, uint64_t obj) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, obj);
  hd_point(t);
  return t;
}

// ---- waiting
void hd_block_on(struct hd_thread *t, uint64_t obj, uint64_t obj2); // the pending operation depends on them
void hd_unblock(struct hd_thread *t);   // it depends on nothing any more
void hd_update(uint64_t obj);           // obj changed: whose operation is enabled now?
void hd_update_all(void);               // signals changed: the same for everybody
// u waits in op at obj to be woken, also while it runs a handler; the next hd_wake
// for it is for that wait.
bool hd_can_wake(struct hd_thread *u, uint16_t op, uint64_t obj, uint64_t *arrival);
void hd_wake(struct hd_thread *u);      // u's wait is over; call hd_update for its object after
bool hd_waited_for(uint64_t obj, const struct hd_thread *but, uint16_t op); // by a pending op
void hd_memory_gone(uint64_t at, uint64_t bytes); // freed or unmapped: threads that wait for an object there go on, to be reported

// ---- enabled.c
bool hd_enabled(const struct hd_thread *u);     // it can be chosen: for its operation, or a detour
bool hd_op_enabled(const struct hd_thread *u);  // for its pending operation
bool hd_op_possible(const struct hd_thread *u); // that, if no signal came first

// ---- detour.c: what a chosen thread may do instead of its pending operation
bool hd_detour_possible(const struct hd_thread *t, uint16_t op); // now, or early
uint16_t hd_detour_needed(const struct hd_thread *t); // its operation is not enabled; 0: it is
void hd_detour(struct hd_thread *t);    // does t->detour
#endif
