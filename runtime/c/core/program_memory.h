// program_memory.h: reading and writing the program's memory through the program's pointers.
// A fault in these functions counts as the program's, at the pc of the pending operation.
#ifndef HD_CORE_PROGRAM_MEMORY_H
#define HD_CORE_PROGRAM_MEMORY_H
#include "core/base.h"

void hd_refresh(void *p, uint32_t size, uint64_t pc); // reads and rewrites the first and last byte; faults as the program
void hd_fetch(void *to, const void *p, uint32_t size, uint64_t pc); // copies; faults in the same way
void hd_from_program(void *to, const void *from, uint64_t n);
void hd_to_program(void *to, const void *from, uint64_t n);
bool hd_fetch_string(char *to, const char *from, uint64_t room); // false: the string does not fit
bool hd_touch(const void *p, uint64_t size, uint64_t pc); // faults if p is not readable; always returns true
// The program's heap: at most the first hd_heap_used bytes from the base have been allocated (memory/heap.c).
extern HD_OWN uintptr_t hd_heap_base;
extern HD_OWN uint64_t hd_heap_used;
static inline bool hd_heap_owns(uintptr_t p) { return p - hd_heap_base < hd_heap_used; }
#endif
