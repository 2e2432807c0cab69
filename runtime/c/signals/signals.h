// signals.h: the program's signals.
#ifndef HD_SIGNALS_SIGNALS_H
#define HD_SIGNALS_SIGNALS_H
#include <signal.h>
#include <ucontext.h>
#include "core/interrupts.h"
#include "core/registration.h"

// A pending signal.
struct hd_signal {
  int sig, code;          // si_code
  uint32_t target;        // slot of a thread, or HD_PROCESS
  uint32_t sender;        // number of a thread + 1, 0: none
  union sigval value;
  struct hd_timer *timer; // that sent it, or NULL
  void (*taken)(struct hd_timer *timer, siginfo_t *info); // called when it is delivered
  int child, status;      // the number of the child process that sent it or has ended, or 0, and then what si_status says
};

static inline bool hd_signal_valid(int sig) { return sig >= 1 && sig < NSIG; }

// ---- timestamp.c
void hd_timestamp_trap(bool on);   // of this kernel thread, if the program can read the counter
bool hd_timestamp(ucontext_t *c);  // completes an instruction that faulted; false: it is another one

// ---- signals.c
extern struct sigaction hd_actions[NSIG];
int hd_signal_action(int sig, const struct sigaction *act, struct sigaction *old, uint64_t pc); // under control; 0 or EINVAL
int hd_signal_mask(int how, const sigset_t *set, sigset_t *old, uint64_t pc);                   // the same
int hd_signal_suspend(bool change, uint64_t to, uint64_t pc); // active; -1 with EINTR
bool hd_signal_ignored(int sig);                  // by the program
bool hd_signal_handled(int sig);                  // by a handler of its own
void hd_signal_generate(const struct hd_signal *s, uint64_t pc); // pending, dropped, or the end of the execution
int hd_signal_send(struct hd_thread *target, int sig, int code, union sigval value, uint64_t pc); // NULL: to the process; 0, ESRCH or EAGAIN
extern uint64_t hd_signals_sent[NSIG];            // how often each has become pending in this execution
bool hd_signal_pending_of(const struct hd_timer *tm);            // one of its signals
// The next of the signals in set that are pending for t; false: none is.
bool hd_signal_take(struct hd_thread *t, uint64_t set, struct hd_signal *out);
void hd_signal_info(siginfo_t *info, const struct hd_signal *s);
HD_COLD _Noreturn void hd_signal_fatal(int sig, uint64_t pc);    // its default action
void hd_signal_abort(uint64_t pc);                // runs the program's handler of SIGABRT, if there is one
void hd_signal_kernel(int sig);                   // makes pending what the kernel sends to the running thread
// In a child, where the kernel serves the program: gives it the dispositions, and the mask and the alternative stack of t;
// NULL: those set before main.
void hd_signals_release(const struct hd_thread *t);
// Makes the kernel ignore what the program ignores, except the signals in keep, as a process inherits it that is about to be
// started. Returns the set.
uint64_t hd_signals_ignore(uint64_t keep);
void hd_signals_heed(uint64_t set);              // undoes it
extern const struct hd_registration hd_signals;

// For ppoll and similar calls: a mask for one call, NULL: the thread's. Until hd_mask_back a handler
// runs only if it ends the call, and then the mask has been restored.
void hd_mask_for_call(const sigset_t *mask, uint64_t pc);
void hd_mask_back(uint64_t pc);

// ---- delivery.c
// Runs a handler on the thread's stack below sp, or on its alternative one. context: what the handler
// is given; its signal mask is in force afterwards. sp 0: below the caller's frame. side_top: hd_side_top of the code that
// is interrupted.
void hd_run_handler(struct hd_thread *t, const struct sigaction *act, siginfo_t *info, ucontext_t *context, uintptr_t sp, uintptr_t side_top);
bool hd_on_alt_stack(const struct hd_thread *t, uintptr_t sp);
void hd_kernel_exit(uint64_t pc);                 // the end of a call that went into the kernel
void hd_deliver_due(struct hd_thread *t, uint64_t pc); // before the present call returns
extern const struct hd_registration hd_delivery;

// ---- fault.c
bool hd_fault(int sig, void *info, void *context); // arranges for the program's handler to run; false: it cannot

// ---- arrivals.c: signals from child processes
void hd_arrivals_open(void);                      // a child process is about to be started
uint64_t hd_arrivals_mask(void);                  // what every kernel thread blocks that runs code of the program
bool hd_arrival_waits(void);                      // one may have arrived
bool hd_arrival_take(siginfo_t *info);            // with the kernel's si_pid
bool hd_arrival_aside(const siginfo_t *info);     // in a handler of the runtime's: the signal is a child's; true: it has been put aside
void hd_arrival_fatal(int sig);                   // a signal for this process from outside: its default action
uint64_t hd_signals_block(void);                  // all of the kernel thread's; returns the mask before
void hd_signals_unblock(uint64_t mask);

// ---- crash.c: the kernel's signals to the runtime
uint64_t hd_crash_set(void);                      // those that it handles
void hd_crash_remove(void);                       // stop handling the runtime's signals
extern const struct hd_registration hd_crash;
#endif
