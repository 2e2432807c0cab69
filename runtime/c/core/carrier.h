// carrier.h: the loop that runs executions.
#ifndef HD_CORE_CARRIER_H
#define HD_CORE_CARRIER_H
#include "core/run.h"

extern int (*hd_program_main)(int, char **, char **);
extern int hd_argc; extern char **hd_argv, **hd_envp;
// Runs in place of main. Main's fiber starts in entry.
_Noreturn void hd_carrier(int argc, char **argv, char **envp, void (*entry)(void));
_Noreturn void hd_to_carrier(void);           // leaves the program and continues in the carrier's loop
void hd_plan_take(const struct hd_plan *p, uint64_t index); // the present execution continues as one of p's
_Noreturn void hd_more_hosts(void);           // every host thread is in use: the carrier makes more and restarts the execution
// The default limit on main's stack, in bytes; 0: unknown (process/initial_stack.c).

// ---- forkserver.c
// enum hd_isolation, set before the runtime's first mapping of its own: how executions are run, and of which isolation the
// program has the use. The latter is weaker under HD_OPT_SETUP_FORK.
extern uint32_t hd_isolation, hd_isolation_granted;
// Runs f in a child process and returns f's result. No change f makes to memory reaches this process.
uint32_t hd_fork_run(uint32_t (*f)(const struct hd_plan *p, uint64_t index), const struct hd_plan *p, uint64_t index);
// Waits for the end of a child process that runs f, and returns f's result. ended is a descriptor for it, or negative.
uint32_t hd_fork_wait(long pid, long ended);
bool hd_fork_signal(int sig);                 // forwards sig to the running child; false: no child is running
#endif
