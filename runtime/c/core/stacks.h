// stacks.h: numbers of call stacks in a recording.
#ifndef HD_CORE_STACKS_H
#define HD_CORE_STACKS_H
#include "core/thread.h"

void hd_stacks_begin(void);                             // called before a recorded execution begins
// The number of t's stack at an operation that it performs or is about to perform; 0: no stack, or none recorded.
uint32_t hd_stack_number(const struct hd_thread *t, uint16_t op, uint64_t pc);
void hd_stack_left(const struct hd_thread *t);          // called, while recording, after t's depth has fallen
#endif
