// own_memory.h: the runtime's own memory, which the snapshot never restores.
#ifndef HD_CORE_OWN_MEMORY_H
#define HD_CORE_OWN_MEMORY_H
#include "core/base.h"

void *hd_map(uint64_t bytes, const char *what); // zeroed, private; fatal on failure
void *hd_map_shared(uint64_t bytes, const char *what); // the same, shared with the processes of executions
void *hd_map_at(uintptr_t at, uint64_t bytes);   // the same at a fixed address, for memory mapped during executions: the
                                                 // program's mappings must not depend on it. NULL: the address is taken
// Where its mappings lie, one after the other. Frames on the program's stack contain addresses of them, which must
// depend neither on the isolation nor on the size of the memory shared with the controller.
#define HD_OWN_BASE 0x2a0000000000ull
extern uintptr_t hd_own_next; // address of the next one; 0: anywhere
#endif
