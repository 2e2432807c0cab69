// order.h: happens-before among the threads of a watched execution.
#ifndef HD_MEMORY_ORDER_H
#define HD_MEMORY_ORDER_H
#include "core/run.h"
#include "memory/clocks.h"

struct hd_phase { struct hd_clock arrived; };

// What is known of one thread. Set and read by order.c, but for depth.
struct hd_order {
  struct hd_clock clock;
  uint32_t number;         // of the thread
  uint32_t chain;          // once named
  bool named;              // it has its chain: from its first access on
  bool ended;
  bool tick;               // it has released something: its next access is in a new time
  bool queued, woken;      // at a condition or futex: it stands in the queue; another thread took it from there
  bool fenced;             // it has passed a release fence
  uint8_t depth;           // shadow.c: of handlers, as of hd_thread.serial
  uint64_t waits_at;       // object of the queue
  struct hd_clock waker;   // of the threads that woke it
  struct hd_clock acquired; // what its relaxed loads have read, for an acquire fence
  struct hd_clock released; // its clock at its last release fence
  struct hd_phase *phase;  // of the barrier that it waits at
  uint32_t generation;     // of that barrier, when it arrived
};

void hd_order_begin(void);
struct hd_order *hd_order_of(struct hd_thread *t); // NULL: the budget is used up
// The thread's own time moves on if it has released something since its last access, and it takes
// a chain before its first. True: its epoch is a new one.
bool hd_order_access(struct hd_order *o);
static inline uint64_t hd_order_epoch(const struct hd_order *o) { return hd_epoch(o->chain, o->clock.times[o->chain]); }
// Takes the thread's pending operation, which has just been done.
void hd_order_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags);
// What all threads know that have not ended: nothing that it covers can race any more.
const struct hd_clock *hd_order_known(void);
uint32_t hd_order_cost(void); // about how many steps hd_order_known takes
#endif
