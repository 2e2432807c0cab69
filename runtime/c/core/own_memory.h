// own_memory.h: the runtime's own memory, which the snapshot never restores.
#ifndef HD_CORE_OWN_MEMORY_H
#define HD_CORE_OWN_MEMORY_H
#include "core/base.h"

void *hd_map(uint64_t bytes, const char *what); // zeroed, private; fatal on failure
void *hd_map_at(uintptr_t at, uint64_t bytes);   // the same at a fixed address, for memory mapped during executions: the
                                                 // program's mappings must not depend on it. NULL: the address is taken
extern uintptr_t hd_own_next; // address of its next mapping; 0: anywhere (memory/address_space.c)
#endif
