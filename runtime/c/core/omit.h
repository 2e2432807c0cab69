// omit.h: omission of synchronisation calls. Each hook asks first, which costs one comparison
// when the plan omits no call.
#ifndef HD_CORE_OMIT_H
#define HD_CORE_OMIT_H
#include "core/base.h"

extern bool hd_omitting; // the controller names calls, or the plan's fault is that one does nothing
void hd_omit_begin(void); // called when an execution begins
bool hd_omit(uint64_t pc);
bool hd_omit_lock(uint64_t pc, uint64_t object, uint32_t held);
bool hd_omit_unlock(uint64_t object, uint32_t held);
bool hd_omit_now(uint64_t pc); // the plan's fault is that this call does nothing
bool hd_omit_held(uint64_t object); // the running thread omitted the call that would have acquired object
// Reports whether to omit the call that returns to pc. An omitted call returns success.
static inline bool hd_omits(uint64_t pc) { return HD_UNLIKELY(hd_omitting) && hd_omit(pc); }
// The same for a call that acquires object, which the running thread already holds held times.
static inline bool hd_omits_lock(uint64_t pc, const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_omitting) && hd_omit_lock(pc, (uint64_t)object, held);
}
// Reports whether to omit a call that releases object, because the call that acquired it was omitted.
static inline bool hd_omits_owed(const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_omitting) && hd_omit_unlock((uint64_t)object, held);
}
// The same, or because it is itself to be omitted, for a call that cannot be named by --omit.
static inline bool hd_omits_unlock(const void *object, uint32_t held, uint64_t pc) {
  return HD_UNLIKELY(hd_omitting) && (hd_omit_unlock((uint64_t)object, held) || hd_omit_now(pc));
}
#endif
