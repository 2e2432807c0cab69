// memory/shared_accesses.h: recordings of the accesses to shared memory alone (HD_PLAN_SHARED, sharing.h).
#ifndef HD_MEMORY_SHARED_ACCESSES_H
#define HD_MEMORY_SHARED_ACCESSES_H
#include "core/run.h"

extern HD_OWN bool hd_sharing; // the current execution is recorded so
extern HD_OWN bool hd_left_out; // the access that is being handled is not to be sent; false unless hd_sharing
// Takes note of an access, atomic or not, a free included. Reports whether it is to be sent.
bool hd_sharing_access(const struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
void hd_sharing_forget(uint64_t addr, uint64_t size); // the memory begins a new life
extern const struct hd_registration hd_sharings;
#endif
