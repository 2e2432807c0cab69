// outcome.h: how an execution ends.
#ifndef HD_CORE_OUTCOME_H
#define HD_CORE_OUTCOME_H
#include "core/run.h"

_Noreturn void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg);
void hd_foretell(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object); // the outcome if reporting it goes wrong
_Noreturn HD_COLD void hd_outside_ends(uint64_t pc, uint64_t object); // other processes have had long enough to end a thread's wait
_Noreturn void hd_unfinished(uint64_t pc, uint64_t object); // the step budget is exhausted
// Sends where the threads are if the controller has asked. pc is where the running thread computes, 0 if it is at its pending
// operation.
HD_COLD void hd_tell_where(uint64_t pc);
_Noreturn HD_COLD void hd_cut(uint64_t pc, uint64_t object); // the controller asked to end the execution
_Noreturn HD_COLD void hd_cut_access(uint64_t pc); // the same, in the hook of an access
// A child process waits forever: the process'th child, forked by a thread, at pc with an operation on an object whose
// holder it does not have (1 + its number, 0: unknown). calls is its stack.
_Noreturn HD_COLD void hd_end_child(uint32_t process, uint32_t thread, uint16_t op, uint32_t holder, uint64_t pc, uint64_t object, const uint64_t *calls, uint32_t ncalls);
_Noreturn HD_COLD void hd_misuse(uint64_t pc, uint64_t object, const char *msg);
_Noreturn HD_COLD void hd_unsupported(const char *what);
HD_COLD void hd_require_isolation(uint32_t isolation, const char *what); // ends the execution if its isolation is weaker
// Ends the execution if t's wait closes a cycle of waits that nothing ends.
void hd_deadlock_look(struct hd_thread *t);
const char *hd_waits_described(void);              // describes what blocked threads wait for; NULL: nothing to add
uint64_t hd_word_at(uint64_t addr, uint32_t size); // reads memory that may be unmapped; 0 if it is
uint32_t hd_owner_at(uint64_t addr);               // reads a thread number + 1 at addr; 0 if overwritten or unmapped
extern bool hd_cut_asked;                         // the controller asked to end the execution; the next scheduling point does
extern bool hd_unwinding;                          // the failing thread's stack is being walked
uint32_t hd_program_calls(uint64_t *pc, uint32_t room); // the current stack from the program's innermost call on, as return addresses; their number
uint64_t hd_program_call(void);                    // the program's innermost call on the current stack, as a return address; 0: none
uint32_t hd_stack_depth(void);                     // number of frames on the current stack
void hd_signal_event(int sig, uint64_t pc, uint64_t addr); // records the signal that the current thread dies of
void hd_unwinder_warm(void);                       // makes the unwinder initialise itself, which its first use does
#endif
