// turns.h: in plans with turns, the scheduling points at which the policy decides (turns.c).
#ifndef HD_CORE_TURNS_H
#define HD_CORE_TURNS_H
#include "core/run.h"

void hd_turns_begin(void);
bool hd_turns_pass(const struct hd_thread *t); // counts the visit of t, which runs, and reports whether t goes on without a decision
#endif
