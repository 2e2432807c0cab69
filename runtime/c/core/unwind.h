// unwind.h: from a frame on a thread's stack to its caller's, by the tables for exceptions (.eh_frame), which code
// compiled without access hooks has, too.
//
// libgcc's unwinder cannot do this while an execution is recorded: it acquires the loader's lock, which another
// thread may hold, and it begins at the running thread only.
#ifndef HD_CORE_UNWIND_H
#define HD_CORE_UNWIND_H
#include "core/base.h"

// A function's activation that has called another one: where it continues, and its registers at that point, by DWARF's
// numbers. Bit i of known: register i has a value.
struct hd_activation {
  uint64_t pc;
  uint64_t registers[HD_DWARF_REGISTERS];
  uint32_t known;
};

enum hd_unwound {
  HD_UNWOUND, // *a is now the caller's
  HD_REACHES, // the activation's part of the stack extends above limit; *a is unchanged
  HD_UNTOLD, // there is no table that says, or none that is understood
};
// Everything from the activation's stack pointer up to limit must be readable.
enum hd_unwound hd_unwind_step(struct hd_activation *a, uintptr_t limit);
#endif
