// interrupts.h: which signals a thread must take, and how late. signals/ implements their effect.
#ifndef HD_CORE_INTERRUPTS_H
#define HD_CORE_INTERRUPTS_H
#include "core/run.h"

enum { HD_PROCESS = ~0u };                     // in place of a thread's slot: the signal is directed at the process
static inline uint64_t hd_bit(int sig) { return 1ull << (sig - 1); }
static inline uint64_t hd_signals_pending(const struct hd_thread *t) { return t->signals.pending | hd.process_pending; } // blocked or not
bool hd_signal_waited(const struct hd_thread *u, int sig); // u waits for sig (sigwait and similar calls)
bool hd_signal_takes(const struct hd_thread *u, int sig);  // u does not block sig
// Reports whether t is the only thread that could take sig, sent to the slot target or to HD_PROCESS.
bool hd_signal_only_for(uint32_t target, int sig, const struct hd_thread *t);
bool hd_signal_for(const struct hd_thread *t); // a signal is pending that only t could take
int hd_signal_next(const struct hd_thread *t); // the signal t takes next, or 0
int hd_signal_due(const struct hd_thread *t);  // the same, or 0 if no signal can be delivered to t now
bool hd_interruptible(const struct hd_thread *t, int sig); // sig would make t's call fail with EINTR
void hd_owe(struct hd_thread *t);              // t blocks: a signal that is due comes before its operation
bool hd_owes(const struct hd_thread *t);       // t has not taken that signal yet
void hd_signals_arrive(void);                  // hd_owe for every thread: enough time has passed for signals to arrive
#endif
