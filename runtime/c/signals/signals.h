// signals.h: what the files about signals share.
#ifndef HD_SIGNALS_H
#define HD_SIGNALS_H
#include <signal.h>
#include <ucontext.h>
#include "core/rt.h"

enum { HD_PROCESS = ~0u };

// A signal on its way.
struct hd_signal {
  int sig, code;          // si_code
  uint32_t target;        // slot of a thread, or HD_PROCESS
  uint32_t sender;        // number of a thread + 1, 0: none
  union sigval value;
  struct hd_timer *timer; // that sent it, or NULL
  int child, status;      // SIGCHLD: the number of the child that has ended, or 0, and what si_status says
};

static inline uint64_t hd_bit(int sig) { return 1ull << (sig - 1); }
static inline bool hd_signal_valid(int sig) { return sig >= 1 && sig < NSIG; }

// ---- signals.c
extern struct sigaction hd_actions[NSIG];
int hd_signal_action(int sig, const struct sigaction *act, struct sigaction *old, uint64_t pc); // under control; 0 or EINVAL
int hd_signal_mask(int how, const sigset_t *set, sigset_t *old, uint64_t pc);                   // the same
int hd_signal_suspend(bool change, uint64_t to, uint64_t pc); // active; -1 with EINTR
bool hd_signal_room(void);                        // for one more
void hd_signal_generate(const struct hd_signal *s, uint64_t pc); // pending, dropped, or the end of the execution
bool hd_signal_pending_of(const struct hd_timer *tm);            // one of its signals
// The next of the signals in set that are pending for t; false: none is.
bool hd_signal_take(struct hd_thread *t, uint64_t set, struct hd_signal *out);
void hd_signal_info(siginfo_t *info, const struct hd_signal *s);
uint64_t hd_signals_pending(const struct hd_thread *t);          // for it, blocked or not
HD_COLD _Noreturn void hd_signal_fatal(int sig, uint64_t pc);    // its default action

// ppoll and kin: a mask for one call, NULL: the thread's. Until hd_mask_back a handler only comes
// where it ends the call, and then the mask has been put back.
void hd_mask_for_call(const sigset_t *mask, uint64_t pc);
void hd_mask_back(uint64_t pc);

// ---- delivery.c
// Runs a handler on the thread's stack, or its alternative one. context: what the handler
// is given; its signal mask is in force afterwards.
void hd_run_handler(struct hd_thread *t, const struct sigaction *act, siginfo_t *info, ucontext_t *context);
bool hd_on_alt_stack(const struct hd_thread *t, uintptr_t sp);

// ---- time/timers.c
void hd_timer_taken(struct hd_timer *tm, siginfo_t *info); // its signal is being delivered
struct hd_timer *hd_timer_child(int child, uint64_t pc);   // a timer that fires when the child ends
void hd_timer_forget(struct hd_timer *tm);                 // it has been waited for
bool hd_child_over(int child, bool patient, struct hd_signal *s); // process/children.c: has it ended? Then its signal
#endif
