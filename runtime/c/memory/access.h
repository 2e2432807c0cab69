// access.h: accesses to memory as events.
#ifndef HD_MEMORY_ACCESS_H
#define HD_MEMORY_ACCESS_H
#include "core/run.h"

bool hd_profiles(void); // counts an event other than a scheduling point; true: the plan wants it
void hd_access_range(const void *p, uint64_t size, bool write, uint64_t pc);
#endif
