// shared_state.h: calls that are not scheduling points, but change or return state that threads share, in
// libc, in the kernel or in the runtime: the position of a stream, the environment, a thread's name.
//
// Searches do not enumerate the order of such calls. If two threads make conflicting calls on one object, and
// happens-before does not order them, no search of the program is complete (HD_NOTE_UNORDERED). They are found as
// races are (shadow.h), so calls under one lock, or before a join, are ordered.
#ifndef HD_MEMORY_SHARED_STATE_H
#define HD_MEMORY_SHARED_STATE_H
#include "core/run.h"

enum hd_share {
  HD_LOOKS_AT, // returns state
  HD_ADDS,     // changes it in a way that does not depend on the order of such changes, as printing does
  HD_CHANGES,  // changes it, or returns it and changes it
};

// Objects without an address.
enum hd_shared_object {
  HD_STATE_ENVIRONMENT = 1, HD_STATE_RANDOM, HD_STATE_RANDOM48, HD_STATE_TIME_ZONE, HD_STATE_OPTIONS, HD_STATE_HASH, HD_STATE_TOKENS,
  HD_STATE_USERS, HD_STATE_GROUPS, HD_STATE_CONCURRENCY, HD_STATE_THREAD_NUMBERS, HD_STATE_KEYS, HD_STATE_EXIT, HD_STATE_LIMITS,
  HD_STATE_FILES, // the sizes and contents of all
};

// The bits that tell what an object belongs to (enum hd_shared), in its shadow address.
enum { HD_SHARED_SHIFT = 24 };

// Returns false if the thread has made the same call before, and nothing that other threads could have seen since.
bool hd_shares_slow(enum hd_shared of, uint64_t object, enum hd_share how, uint64_t pc);
static inline bool hd_shares(enum hd_shared of, uint64_t object, enum hd_share how, uint64_t pc) {
  if (how == HD_CHANGES) hd.effects++;
  return HD_UNLIKELY(hd_active() && hd_beside_others()) && hd_shares_slow(of, object, how, pc);
}
// No call that looks at the state is known to the runtime, or too many are: any other thread may see the change.
static inline void hd_unordered(enum hd_shared of) {
  if (hd_active() && hd_beside_others()) hd.result.notes |= HD_NOTE_UNORDERED << of;
}
void hd_shared_ended(enum hd_shared of, uint64_t object); // another object may get its address
#endif
