// carrier.h: the loop that runs executions.
#ifndef HD_CORE_CARRIER_H
#define HD_CORE_CARRIER_H
#include "core/run.h"

extern int (*hd_program_main)(int, char **, char **);
extern int hd_argc; extern char **hd_argv, **hd_envp;
// Takes the place of main. Main's fiber begins in entry.
_Noreturn void hd_carrier(int argc, char **argv, char **envp, void (*entry)(void));
_Noreturn void hd_to_carrier(void);           // leave the program, go on in the carrier's loop
_Noreturn void hd_more_hosts(void);           // every host thread is taken
// What programs that are not told otherwise may use of main's stack; 0: not known (process/initial_stack.c).
extern uint64_t hd_main_stack;

// ---- forkserver.c
extern uint32_t hd_isolation; // enum hd_isolation, from before the first mapping of the runtime's own
// Runs f in a child process and returns what f did there. Whatever f changes stays there.
uint32_t hd_fork_run(uint32_t (*f)(const struct hd_plan *p, uint64_t index), const struct hd_plan *p, uint64_t index);
bool hd_fork_signal(int sig);                 // pass it on to the child that runs, if there is one
#endif
