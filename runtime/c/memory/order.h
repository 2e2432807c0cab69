// order.h: happens-before among the threads of a watched execution.
#ifndef HD_MEMORY_ORDER_H
#define HD_MEMORY_ORDER_H
#include "core/run.h"
#include "memory/clocks.h"

struct hd_phase { struct hd_clock arrived; };

// The state of one thread. order.c sets and reads all fields except depth.
struct hd_order {
  struct hd_clock clock;
  uint32_t number;         // the thread's number
  uint32_t chain;          // valid once named is true
  bool named;              // the thread has a chain: from its first access on
  bool ended;
  bool tick;               // the thread has released its clock: its next access is in a new time
  bool queued, woken;      // at a condition or futex: it is in the queue; another thread removed it
  bool fenced;             // it has passed a release fence
  uint8_t depth;           // shadow.c: depth of handlers at which hd_thread.serial is valid
  uint64_t waits_at;       // object of the queue
  struct hd_clock waker;   // clocks of the threads that woke it
  struct hd_clock acquired; // what its relaxed loads have read, for an acquire fence
  struct hd_clock released; // its clock at its last release fence
  struct hd_phase *phase;  // phase of the barrier that it waits at
  uint32_t generation;     // of that barrier, when it arrived
};

void hd_order_begin(void);
struct hd_order *hd_order_of(struct hd_thread *t); // NULL: the budget is exhausted
// Called before an access: assigns a chain before the thread's first access, and advances the
// thread's time if it has released its clock since the last one. Returns true if its epoch is new.
bool hd_order_access(struct hd_order *o);
static inline uint64_t hd_order_epoch(const struct hd_order *o) { return hd_epoch(o->chain, hd_clock_time(&o->clock, o->chain)); } // its time is 0 without memory for its clock
// Processes the thread's pending operation, which it has just performed.
void hd_order_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags);
// Processes a volatile store that the thread has announced and that is not an event: it releases, for inline assembly that
// accesses the memory later.
void hd_order_volatile(struct hd_thread *t, uint64_t address, uint32_t size);
// Orders what the thread has done and does after and before the visits of all threads (visits.h).
void hd_order_visit(struct hd_thread *t);
// Returns the minimum of the clocks of all running threads. Accesses that it covers cannot race with
// later ones.
const struct hd_clock *hd_order_known(void);
uint32_t hd_order_cost(void); // approximate number of steps of hd_order_known
#endif
