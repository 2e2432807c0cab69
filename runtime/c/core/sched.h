// sched.h: scheduling points, and the conditions that enable a pending operation.
#ifndef HD_CORE_SCHED_H
#define HD_CORE_SCHED_H
#include "core/run.h"

void hd_point(struct hd_thread *t);     // call with t->pend set; returns when t is chosen
void hd_forced_yield(struct hd_thread *t, uint64_t pc, uint64_t addr); // makes t yield between two of its operations; addr: what it reads again and again, or 0
_Noreturn void hd_block_forever(struct hd_thread *t); // t will never be enabled
void hd_commit(struct hd_thread *t, uint64_t value, int32_t result); // records the chosen operation as performed
static inline void hd_site(uint64_t pc) { if (hd_active()) hd.cur->pend.pc = pc; } // attributes later errors and events to pc
void hd_commit_failed(void);            // records the decision in the trace although the operation failed
// Records that the chosen thread performed op, at the pc of its pending operation, and stays blocked.
void hd_commit_aside(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value, int32_t result, uint32_t flags);
// Records an event that was not a scheduling decision.
void hd_note(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value);
_Noreturn void hd_thread_leave(void);   // the running thread has ended: switches to another
// The common case: an operation that is always enabled.
static inline struct hd_thread *hd_op(uint16_t op, uint64_t pc, uint64_t obj) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, obj);
  hd_point(t);
  return t;
}

// ---- waiting
void hd_block_on(struct hd_thread *t, uint64_t obj, uint64_t obj2); // t's pending operation depends on obj and obj2
void hd_unblock(struct hd_thread *t);   // t's pending operation depends on no object
void hd_update(uint64_t obj);           // obj changed: updates which threads that depend on it are enabled
void hd_update_all(void);               // the same for every thread, after signals changed
// Reports whether u waits in op on obj, possibly beneath a signal handler. The next hd_wake of
// u then ends that wait.
bool hd_can_wake(struct hd_thread *u, uint16_t op, uint64_t obj, uint64_t *arrival);
void hd_wake(struct hd_thread *u);      // ends u's wait; the caller must then call hd_update for its object
bool hd_waited_for(uint64_t obj, const struct hd_thread *but, uint16_t op); // a thread other than but blocks on obj in op
void hd_memory_gone(uint64_t at, uint64_t bytes); // freed or unmapped: resumes threads blocked on an object there, to report them

// ---- enabled.c
bool hd_enabled(const struct hd_thread *u);     // u can be chosen, for its operation or a detour
bool hd_op_enabled(const struct hd_thread *u);  // u can be chosen for its pending operation
bool hd_op_possible(const struct hd_thread *u); // the same, disregarding signals that come first

// ---- detour.c: what a chosen thread may do instead of its pending operation
bool hd_detour_possible(const struct hd_thread *t, uint16_t op); // t can take detour op, now or ahead of its deadline
uint16_t hd_detour_needed(const struct hd_thread *t); // the detour that enables t; 0: its operation is enabled
void hd_detour(struct hd_thread *t);    // performs t->detour
#endif
