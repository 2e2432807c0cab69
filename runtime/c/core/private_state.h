// private_state.h: what a thread knows and no event shows, for HD_PLAN_STATES.
//
// Where threads do the same again and again, they may still count in registers, or in variables that the compiler does not
// instrument because no other thread can reach them. Only if that recurs, too, will nothing change. Which of its words
// recur and which do not, the words_from of a plan tells.
//
// A thread that waits in a loop with a time limit has another time on its stack in each turn: the one that it has read from a clock,
// and the deadline that it has computed. Such a value belongs to the state relative to the thread's latest readings. A deadline that
// stays the same comes nearer to them, so the state changes.
#ifndef HD_CORE_PRIVATE_STATE_H
#define HD_CORE_PRIVATE_STATE_H
#include "core/run.h"

void hd_private_state(struct hd_thread *t); // records the state of t, which runs and has reached a point
// The running thread has read a clock, or is about to wait until a time of a clock, or until a virtual time, which is so far ahead.
void hd_private_reading_kept(uint64_t at, uint64_t origin);
void hd_private_deadline_kept(uint64_t at, uint64_t origin);
void hd_private_after_kept(uint64_t vtime, uint64_t ns);
static inline bool hd_private(void) { return HD_UNLIKELY(hd.plan.flags & HD_PLAN_STATES); }
static inline void hd_private_reading(uint64_t at, uint64_t origin) { if (hd_private()) hd_private_reading_kept(at, origin); }
static inline void hd_private_deadline(uint64_t at, uint64_t origin) { if (hd_private()) hd_private_deadline_kept(at, origin); }
static inline void hd_private_after(uint64_t vtime, uint64_t ns) { if (hd_private()) hd_private_after_kept(vtime, ns); }
#endif
