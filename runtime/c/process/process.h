// process.h: the process: how it starts, and the processes it starts.
#ifndef HD_PROCESS_PROCESS_H
#define HD_PROCESS_PROCESS_H
#include "core/registration.h"

extern const struct hd_registration *const hd_all_modules[]; // modules.c; ended by NULL

// ---- initial_stack.c: the first stack, as the kernel laid it out
void hd_initial_stack_init(char **argv, char **envp);
extern const struct hd_registration hd_initial_stack;

// ---- nondeterminism.c: gives the program the same random numbers in every process
void hd_nondeterminism_init(void);

// ---- syscall.c, instructions.c
// Performs a system call at pc like libc's syscall(). instruction: a module made the call with its
// own instruction; the message of a refusal says so.
long hd_system_call(long n, const long arguments[6], uint64_t pc, bool instruction);
extern const struct hd_registration hd_instructions;

// ---- membarrier.c
long hd_membarrier(int command, unsigned flags); // like syscall(SYS_membarrier, …)
extern const struct hd_registration hd_membarriers;

// ---- prctl.c
int hd_prctl(int option, const unsigned long arguments[4], uint64_t pc); // like libc's prctl

// ---- child.c
long hd_child_syscall(long n, const long arguments[6]); // outside of an execution

// ---- children.c
void hd_children_init(void);
void hd_children_subreaper(bool on); // the program's PR_SET_CHILD_SUBREAPER
// Children by the numbers that the program knows. The end of a child that is watched is an event.
enum hd_child_state { HD_CHILD_UNKNOWN, HD_CHILD_ALIVE, HD_CHILD_OVER, HD_CHILD_REAPED };
enum hd_child_state hd_child_state(int number); // as far as the program can know
void hd_child_watch(int number, uint64_t pc);
int hd_child_signal(int number, int sig, uint64_t pc); // 0 or an errno
extern const struct hd_registration hd_children;

// ---- pidfd.c
extern const struct hd_registration hd_pidfds;
#endif
