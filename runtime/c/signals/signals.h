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
  int child, status;      // SIGCHLD: the number of the child that has ended, or 0, and what si_status says
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
bool hd_signal_pending_of(const struct hd_timer *tm);            // one of its signals
// The next of the signals in set that are pending for t; false: none is.
bool hd_signal_take(struct hd_thread *t, uint64_t set, struct hd_signal *out);
void hd_signal_info(siginfo_t *info, const struct hd_signal *s);
HD_COLD _Noreturn void hd_signal_fatal(int sig, uint64_t pc);    // its default action
void hd_signal_abort(uint64_t pc);                // runs the program's handler of SIGABRT, if there is one
void hd_signal_kernel(int sig);                   // makes pending what the kernel sends to the running thread
void hd_signals_release(uint64_t mask);           // from now on the kernel has the program's dispositions and masks
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

// ---- crash.c: the kernel's signals to the runtime
void hd_crash_remove(void);                       // stop handling the runtime's signals
extern const struct hd_registration hd_crash;
#endif
