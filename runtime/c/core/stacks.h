// stacks.h: numbers of call stacks in a recording.
#ifndef HD_CORE_STACKS_H
#define HD_CORE_STACKS_H
#include "core/thread.h"

void hd_stacks_begin(void);                             // called before a recorded execution begins
uint32_t hd_stack_number(const struct hd_thread *t);    // 0: no stack, or none recorded
void hd_stack_left(const struct hd_thread *t);          // called, while recording, after t's depth has fallen
#endif
