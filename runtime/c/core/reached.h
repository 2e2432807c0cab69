// reached.h: tells a module each instruction of the program that the runtime sees, before it takes
// effect: accesses, atomic operations, calls of functions that the runtime replaces, and entries of
// functions. Only locks that are tried (sync/tried_lock.c) ask for it.
#ifndef HD_CORE_REACHED_H
#define HD_CORE_REACHED_H
#include "core/base.h"

extern void (*hd_reached)(uint64_t pc); // the instruction returns to pc; NULL: nothing asks
extern void (*hd_leaving)(uint32_t depth, uint64_t pc); // the running thread leaves its calls from depth on; set with hd_reached
static inline void hd_reach(uint64_t pc) {
  if (HD_UNLIKELY(hd_reached != NULL)) hd_reached(pc);
}
#endif
