// private_state.h: what a thread knows and no event shows, for HD_PLAN_STATES.
//
// Where threads do the same again and again, they may still count in registers, or in variables that the compiler does not
// instrument because no other thread can reach them. Only if that recurs, too, will nothing change. Which of its words
// recur and which do not, the words_from of a plan tells.
#ifndef HD_CORE_PRIVATE_STATE_H
#define HD_CORE_PRIVATE_STATE_H
#include "core/sched.h"

void hd_private_state(struct hd_thread *t); // records the state of t, which runs and has reached a point
#endif
