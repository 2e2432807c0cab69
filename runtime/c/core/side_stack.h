// side_stack.h: stacks for the runtime's own frames.
//
// A program may read memory of its stack that it has not written, and finds what earlier calls left there.
// Recording an execution, watching it for races and following a script take different paths through the
// runtime. So that each leaves the same there, the parts of the runtime that depend on the plan run on a
// stack of the thread's that the program does not see (HD_ON_SIDE_STACK). The frames of the hooks and
// interposed functions that call them lie on the program's stack; what they do depends on the execution alone.
//
// The side stacks lie below all others, so unwinders and debuggers meet increasing addresses.
#ifndef HD_CORE_SIDE_STACK_H
#define HD_CORE_SIDE_STACK_H
#include "core/base.h"

void hd_side_open(uint32_t n);          // opens the side stacks of the first n slots
#define HD_SIDE_BASE 0x1f0000000000ull
uintptr_t hd_side_of(uint32_t slot);    // where its first call on the side stack begins; 0: it has none
static inline bool hd_on_side(uintptr_t sp) { return sp - hd_side_lo < hd_side_size; }
// The stack pointer of the program in the running thread's present call of a function on the side stack, which
// points to a return address; 0: the thread has no side stack.
static inline uintptr_t hd_side_sp(uintptr_t top) { return *(const uintptr_t *)(top - 8); } // of a call that began at top
static inline uintptr_t hd_program_sp(void) { return hd_side_top ? hd_side_sp(hd_side_top) : 0; }
// hd_side_top if the caller runs in a call of a function on the side stack; otherwise 0.
static inline uintptr_t hd_side_called(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return hd_on_side(here) && here < hd_side_top ? hd_side_top : 0;
}
// The registers at that call which a called function leaves as they are: rbp, rbx and r12 to r15.
enum { HD_PROGRAM_REGISTERS = 6 };
static inline uint64_t hd_side_register(uintptr_t top, unsigned i) {
  static const int16_t at[HD_PROGRAM_REGISTERS] = { -16, -200, -208, -216, -224, -232 };
  return *(const uint64_t *)(top + at[i]);
}
static inline uint64_t hd_program_register(unsigned i) { return hd_side_register(hd_side_top, i); }
// Called on the side stack before code of the program runs on a stack of its own, and will return here: the hooks that
// it calls use the side stack below sp. Returns what to set hd_side_top to afterwards.
uintptr_t hd_side_below(uintptr_t sp);
#endif
