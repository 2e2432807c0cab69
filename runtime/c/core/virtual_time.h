// virtual_time.h: when virtual time passes, and deadlines in it.
#ifndef HD_CORE_VIRTUAL_TIME_H
#define HD_CORE_VIRTUAL_TIME_H
#include <time.h>
#include "core/run.h"

enum { HD_LONG = 1 << 19 };                   // points after which an execution is a long one: half of the default budget
bool hd_time_passes(uint64_t until);          // to the next deadline; false: no deadline up to then
void hd_time_long(void);                      // at each point of a long one
void hd_time_expires(void);                   // it has passed somebody's deadline
bool hd_may_overtake(const struct hd_thread *u); // the slack is enough for u's time to come now
void hd_early(struct hd_thread *u);           // u's wait, sleep or timer ends before its time
void hd_overtaken(const struct hd_thread *u); // takes that from the slack; before hd_early
bool hd_sleepers_offer(void);                 // sleepers that may overtake become enabled for a moment
void hd_sleepers_withdraw(struct hd_thread *chosen);
bool hd_time_drifts(void);                    // nothing changes: time passes; true: somebody's time has come
uint64_t hd_nap_end(struct hd_thread *t, uint64_t pc, uint64_t deadline);
bool hd_timer_before(uint64_t vtime);         // a timer is set to expire before that
#define HD_TIMERS 2ull                        // what a sleeper waits for: no object has that address

// ---- deadlines.c
struct hd_deadline { uint64_t vtime; };
#define HD_BAD_TIME (~0ull)                   // a deadline that is not a valid time, where that matters only if it is needed
// The clocks that glibc waits by; with others the functions that take one fail.
static inline bool hd_wait_clock(int clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
uint64_t hd_clock_origin(int clock);          // the clock's ns at virtual time 0
bool hd_deadline(struct hd_deadline *d, int clock, const struct timespec *abs); // false: EINVAL
void hd_timer(struct hd_thread *t, const struct hd_deadline *d); // t's pending wait may run out
#endif
