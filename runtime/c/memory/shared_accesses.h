// memory/shared_accesses.h: recordings of the accesses to shared memory alone (HD_PLAN_SHARED, sharing.h).
#ifndef HD_MEMORY_SHARED_ACCESSES_H
#define HD_MEMORY_SHARED_ACCESSES_H
#include "core/own_memory.h"
#include "core/run.h"

void hd_sharing_clear(void *p, uint64_t bytes);
#define SHARING_MAP(bytes) hd_map(bytes, "what threads share")
#define SHARING_CLEAR(p, bytes) hd_sharing_clear(p, bytes)
#include "sharing.h"

extern HD_OWN bool hd_sharing; // the current execution is recorded so
bool hd_sharing_listed(uint64_t pc); // with hd.listed: it is in the plan's list
extern HD_OWN bool hd_left_out; // the access that is being handled is not to be sent; false unless hd_sharing or hd.listed
extern HD_OWN struct sharing *hd_sharing_table;
// Takes note of an access, atomic or not, a free included. Reports whether it is to be sent.
bool hd_sharing_access(const struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
// Reports whether an access of one byte or more needs no call of hd_sharing_access.
static inline __attribute__((always_inline)) bool hd_sharing_idle(const struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  return sharing_idle(hd_sharing_table, t->number, pc, addr, size, op == HD_OP_WRITE);
}
void hd_sharing_forget(uint64_t addr, uint64_t size); // the memory begins a new life
extern const struct hd_registration hd_sharings;
#endif
