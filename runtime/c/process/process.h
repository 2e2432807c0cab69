// process.h: the process: how it starts, and the processes it starts.
#ifndef HD_PROCESS_PROCESS_H
#define HD_PROCESS_PROCESS_H
#include "core/registration.h"

extern const struct hd_registration *const hd_all_modules[]; // modules.c; ended by NULL

// ---- initial_stack.c: the first stack, as the kernel laid it out
void hd_initial_stack_init(char **envp);
extern const struct hd_registration hd_initial_stack;

// ---- nondeterminism.c: what differs between processes is the same for the program
void hd_nondeterminism_init(void);

// ---- children.c
void hd_children_init(void);
extern const struct hd_registration hd_children;
#endif
