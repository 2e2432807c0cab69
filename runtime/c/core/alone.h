// alone.h: what hooks tell in a process that has one thread and is not scheduled: the child of a fork beside other
// threads (process/child.c). A thread that waits there for what no other can do waits forever.
#ifndef HD_CORE_ALONE_H
#define HD_CORE_ALONE_H
#include "core/base.h"

// Called with an operation, its object, the value that it observed and its place. An operation that changes memory
// counts as the end of a wait, unless it is on the thread's own stack. NULL in all other processes.
extern HD_OWN hd_registers_function *hd_alone;
static inline void hd_alone_sees(uint16_t op, const volatile void *object, uint64_t value, uint64_t pc) {
  if (HD_UNLIKELY(hd_alone != NULL)) hd_with_registers(op, (uint64_t)object, value, pc, hd_alone);
}
#endif
