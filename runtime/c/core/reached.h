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

// The last call of a function that the runtime replaces, or of an atomic operation: where it returns to, and the program's
// stack pointer before it.
extern HD_OWN struct hd_call { uint64_t pc; uintptr_t sp; } hd_call;
#define HD_CALLED(return_address) (hd_call = (struct hd_call){ (return_address), (uintptr_t)__builtin_dwarf_cfa() })
#endif
