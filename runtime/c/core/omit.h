// omit.h: omission of synchronisation calls. Each hook asks first, which costs one comparison
// when the plan omits no call.
#ifndef HD_CORE_OMIT_H
#define HD_CORE_OMIT_H
#include "core/base.h"

extern uint32_t hd_nomitted;
void hd_omit_begin(void); // called when an execution begins
bool hd_omit(uint64_t pc);
bool hd_omit_lock(uint64_t pc, uint64_t object, uint32_t held);
bool hd_omit_unlock(uint64_t object, uint32_t held);
bool hd_omit_held(uint64_t object); // the running thread omitted the call that would have acquired object
// Reports whether to omit the call that returns to pc. An omitted call returns success.
static inline bool hd_omits(uint64_t pc) { return HD_UNLIKELY(hd_nomitted) && hd_omit(pc); }
// The same for a call that acquires object, which the running thread already holds held times.
static inline bool hd_omits_lock(uint64_t pc, const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nomitted) && hd_omit_lock(pc, (uint64_t)object, held);
}
// The same for a call that releases object.
static inline bool hd_omits_unlock(const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nomitted) && hd_omit_unlock((uint64_t)object, held);
}
#endif
