// omit.h: synchronisation calls that are omitted. Each hook asks first; where nothing is to be
// omitted that is one comparison.
#ifndef HD_CORE_OMIT_H
#define HD_CORE_OMIT_H
#include "core/base.h"

extern uint32_t hd_nomitted;
void hd_omit_begin(void); // an execution begins
bool hd_omit(uint64_t pc);
bool hd_omit_lock(uint64_t pc, uint64_t object, uint32_t held);
bool hd_omit_unlock(uint64_t object, uint32_t held);
bool hd_omit_held(uint64_t object); // the running thread has "taken" it by a call that was omitted
// Is the call that returns to pc to be omitted? Then it returns success.
static inline bool hd_omits(uint64_t pc) { return HD_UNLIKELY(hd_nomitted) && hd_omit(pc); }
// The same for one that takes object, which the running thread holds so often already.
static inline bool hd_omits_lock(uint64_t pc, const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nomitted) && hd_omit_lock(pc, (uint64_t)object, held);
}
// And for the one that gives it back.
static inline bool hd_omits_unlock(const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nomitted) && hd_omit_unlock((uint64_t)object, held);
}
#endif
