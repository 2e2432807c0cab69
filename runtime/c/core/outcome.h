// outcome.h: how an execution ends.
#ifndef HD_CORE_OUTCOME_H
#define HD_CORE_OUTCOME_H
#include "core/run.h"

_Noreturn void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg);
_Noreturn void hd_hang(uint64_t pc, uint64_t object); // step budget, or the watchdog's order
_Noreturn HD_COLD void hd_misuse(uint64_t pc, uint64_t object, const char *msg);
_Noreturn HD_COLD void hd_unsupported(const char *what);
HD_COLD void hd_require_isolation(uint32_t isolation, const char *what); // ends the execution if it has less isolation than that
const char *hd_waits_described(void);              // what blocked threads wait for, in words; NULL: nothing to add
uint64_t hd_word_at(uint64_t addr, uint32_t size); // of memory that may be gone; then 0
uint32_t hd_owner_at(uint64_t addr);               // a thread's number + 1 kept at addr; 0 if it is overwritten or gone
extern bool hd_watchdog;                           // the controller asked for an end
extern bool hd_unwinding;                          // the failing thread's stack is being walked
void hd_unwinder_warm(void);                       // it sets itself up at its first use
#endif
