// stack_use.h: accesses of a thread to the stack of another. Only one thread runs, so where the frames of the others
// end is known: at the stack pointer with which each called the hook that it waits in. Below it lay frames of
// functions that have returned.
#ifndef HD_CORE_STACK_USE_H
#define HD_CORE_STACK_USE_H
#include "core/fiber.h"
#include "core/run.h"

// Called when from stops running and to goes on.
void hd_stack_leave(struct hd_thread *from, struct hd_thread *to);
// Reports whether address may lie on the stack of another thread than the running one, where its frames do not cover it.
// Nearly every access asks, so the first two checks decide nearly always.
#define HD_STACKS_SHIFT 40 // the hosts' stacks have the same bits above these
static inline bool hd_stack_other(uint64_t address) {
  if (HD_UNLIKELY(address - hd.unused_lo < hd.unused_size)) return true;
  return HD_UNLIKELY(address >> HD_STACKS_SHIFT == HD_STACKS_BASE >> HD_STACKS_SHIFT) && address - hd.own_lo >= hd.own_size;
}
// Returns how a message describes the use of address, such as a "write to" it; NULL if a frame of the thread whose stack it is
// on may cover it.
const char *hd_stack_used(uint64_t address, const char *how);
_Noreturn void hd_stack_report(uint64_t address, uint64_t pc, const char *what); // ends the execution with that message
void hd_stack_operation(struct hd_thread *t); // both, for the object of t's pending operation
#endif
