// outcome.h: how an execution ends.
#ifndef HD_CORE_OUTCOME_H
#define HD_CORE_OUTCOME_H
#include "core/run.h"

_Noreturn void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg);
_Noreturn void hd_unfinished(uint64_t pc, uint64_t object); // the step budget is exhausted, or the watchdog ended the execution
_Noreturn HD_COLD void hd_misuse(uint64_t pc, uint64_t object, const char *msg);
_Noreturn HD_COLD void hd_unsupported(const char *what);
HD_COLD void hd_require_isolation(uint32_t isolation, const char *what); // ends the execution if its isolation is weaker
const char *hd_waits_described(void);              // describes what blocked threads wait for; NULL: nothing to add
uint64_t hd_word_at(uint64_t addr, uint32_t size); // reads memory that may be unmapped; 0 if it is
uint32_t hd_owner_at(uint64_t addr);               // reads a thread number + 1 at addr; 0 if overwritten or unmapped
extern bool hd_watchdog;                           // the controller asked to end the execution
extern bool hd_unwinding;                          // the failing thread's stack is being walked
void hd_unwinder_warm(void);                       // makes the unwinder initialise itself, which its first use does
#endif
