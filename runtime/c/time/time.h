// time.h: sleeps and timers.
#ifndef HD_TIME_TIME_H
#define HD_TIME_TIME_H
#include "signals/signals.h"

// ---- clocks.c
int hd_sleep(const struct timespec *req, struct timespec *rest, uint64_t pc); // 0, EINVAL or EINTR
void hd_yield(uint64_t pc);
extern const struct hd_registration hd_clocks;

// ---- timers.c
// A timer that fires when the child process of that number ends. over reports whether it has, and
// sets its signal; patient: no thread is enabled until then.
struct hd_timer *hd_timer_child(int child, bool (*over)(int child, bool patient, struct hd_signal *s), uint64_t pc);
void hd_timer_forget(struct hd_timer *tm);                 // the program has waited for it
void hd_timers_pass_on(void); // in a process that executes another program in place of this one: interval timers run on
extern const struct hd_registration hd_timers;
#endif
