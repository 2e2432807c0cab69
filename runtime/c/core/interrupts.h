// interrupts.h: which signals a thread has to take, and when at the latest. What a signal does
// is the signals room's.
#ifndef HD_CORE_INTERRUPTS_H
#define HD_CORE_INTERRUPTS_H
#include "core/run.h"

enum { HD_PROCESS = ~0u };                     // instead of a thread's slot: the signal is the process's
static inline uint64_t hd_bit(int sig) { return 1ull << (sig - 1); }
static inline uint64_t hd_signals_pending(const struct hd_thread *t) { return t->signals.pending | hd.process_pending; } // blocked or not
bool hd_signal_waited(const struct hd_thread *u, int sig); // u waits for it (sigwait and kin)
bool hd_signal_takes(const struct hd_thread *u, int sig);  // u does not block it
// A signal that is sent to the slot target, or to HD_PROCESS: nobody but t could have it.
bool hd_signal_only_for(uint32_t target, int sig, const struct hd_thread *t);
bool hd_signal_for(const struct hd_thread *t); // one is pending that nobody else could have
int hd_signal_next(const struct hd_thread *t); // the one that t takes next, or 0
int hd_signal_due(const struct hd_thread *t);  // the same, where one can be delivered to it
bool hd_interruptible(const struct hd_thread *t, int sig); // its call would fail with EINTR
void hd_owe(struct hd_thread *t);              // it waits: what is due comes first
bool hd_owes(const struct hd_thread *t);       // and has not come yet
void hd_signals_arrive(void);                  // the same for all: time enough has passed
#endif
