// computation.h: threads that make many memory accesses without a scheduling point.
#ifndef HD_CORE_COMPUTATION_H
#define HD_CORE_COMPUTATION_H
#include "core/run.h"

// Called at the end of a quiet stretch, when t is about to read value at addr (hd_quiet_read) or to
// make another access. May let other threads run first.
void hd_quiet_read(struct hd_thread *t, uint64_t pc, uint64_t addr, uint64_t value);
void hd_quiet_write(struct hd_thread *t, uint64_t pc);
#endif
