// setup.h: executions that continue from where the program starts its first thread (core/setup.c).
#ifndef HD_CORE_SETUP_H
#define HD_CORE_SETUP_H
#include "core/run.h"

// Main is the only thread so far, and what it has done can be shared with later executions.
extern HD_OWN bool hd_setup_open;
extern HD_OWN bool hd_setup_looking; // whether to share the set-up is yet to be decided

// ---- in an execution
void hd_setup_begin(void);                         // its plan has been read, and no thread exists
void hd_setup_point(const struct hd_thread *t, bool again); // t has arrived at a scheduling point
void hd_setup_done(const struct hd_thread *t, int32_t result, bool aside); // an operation was committed; aside: by hd_commit_aside
void hd_setup_sent(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb); // a record
void hd_setup_over(struct hd_thread *t);           // t is about to create the first thread, while hd_setup_looking; returns once for each execution that continues there
void hd_setup_refuse(const char *why);             // later executions cannot share the set-up

// ---- in the process stopped at main
enum { HD_SETUP_DIFFERS = 3 };                     // exit status: the plan's decisions in the set-up would have been others
void hd_setup_make(void);                          // before the first execution
uint32_t hd_setup_run(uint32_t (*f)(const struct hd_plan *p, uint64_t index), const struct hd_plan *p, uint64_t index); // as hd_fork_run
void hd_setup_points(const struct hd_plan *p);     // the set of points has become the plan's
void hd_setup_forget(void);                        // no later execution may continue from what there is
#endif
