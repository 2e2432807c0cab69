// visits.h: calls into libraries that may order threads in ways that the runtime does not know (HD_PLAN_VISITS).
#ifndef HD_MEMORY_VISITS_H
#define HD_MEMORY_VISITS_H
#include "core/run.h"

extern HD_OWN bool hd_visits; // the current execution is asked for them
void hd_visits_begin(void);
void hd_visits_end(void);
// The thread that runs is about to perform an operation or an access: its visit, if it is in one, is over.
void hd_visit_over(void);
// Called at a fault of the instruction at pc: reports whether it is one of a visit. Then the instruction can be executed.
bool hd_visit(uint64_t pc, uint64_t address);
#endif
