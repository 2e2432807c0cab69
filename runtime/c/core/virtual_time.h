// virtual_time.h: when virtual time passes, and deadlines in it.
#ifndef HD_CORE_VIRTUAL_TIME_H
#define HD_CORE_VIRTUAL_TIME_H
#include <time.h>
#include "core/run.h"

bool hd_time_passes(uint64_t until);          // advances the clock to the next deadline; false: no deadline up to until
void hd_time_long(void);                      // called at each scheduling point of a long execution
bool hd_time_expires(void);                   // called when the clock has passed a deadline; true: it has ended a wait
bool hd_may_overtake(const struct hd_thread *u); // the remaining slack allows u's deadline to expire now
void hd_early(struct hd_thread *u);           // ends u's wait, sleep or timer before its deadline
void hd_overtaken(const struct hd_thread *u); // deducts that from the slack; call before hd_early
bool hd_sleepers_offer(void);                 // enables the sleepers that may overtake, for one decision
void hd_sleepers_withdraw(struct hd_thread *chosen);
bool hd_time_drifts(void);                    // without progress, advances the clock; true: a deadline has passed
uint64_t hd_nap_end(struct hd_thread *t, uint64_t pc, uint64_t deadline);
bool hd_timer_before(uint64_t vtime);         // a timer expires before vtime
// Time goes on to a deadline, to which no thread works.
static inline void hd_time_jump(uint64_t to) {
  if (to <= hd.vtime) return;
  hd.idled += to - hd.vtime;
  hd.vtime = to;
}
extern uint64_t hd_vtime_at_main;             // where each execution's time begins: constructors have read clocks
#define HD_TIMERS 2ull                        // what a sleeper blocks on; no object has that address

// ---- deadlines.c
struct hd_deadline { uint64_t vtime; };
#define HD_BAD_TIME (~0ull)                   // an invalid deadline, for calls that reject it only if they block
// The clocks glibc accepts for waits; functions that take a clock fail with any other.
static inline bool hd_wait_clock(int clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
uint64_t hd_clock_origin(int clock);          // the clock's ns at virtual time 0
bool hd_deadline(struct hd_deadline *d, int clock, const struct timespec *abs); // false: EINVAL
uint64_t hd_after(uint64_t ns);               // the deadline of a wait that is to last so long
void hd_timer(struct hd_thread *t, const struct hd_deadline *d); // sets the deadline of t's pending wait
void hd_timed_out(struct hd_thread *t, uint64_t pc); // called after the event of a wait that its deadline ended
#endif
