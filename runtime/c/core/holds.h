// holds.h: holds, which keep threads before instructions (docs/scheduler.md). All of these are
// called only in plans with holds.
#ifndef HD_CORE_HOLDS_H
#define HD_CORE_HOLDS_H
#include "core/run.h"

void hd_holds_begin(const struct hd_plan *p);
void hd_holds_thread(struct hd_thread *t);    // t was created
void hd_holds_arrive(struct hd_thread *t);    // t has reached its pending operation
void hd_holds_look(void);                     // before a decision: determines which threads are held
void hd_holds_chosen(struct hd_thread *t, bool script); // ends t's holds
void hd_holds_done(struct hd_thread *t, int32_t result); // t's pending operation was committed
void hd_holds_report(void);
bool hd_held(const struct hd_thread *t);
bool hd_holds_hide(void); // removes the threads that the policy must not choose from hd.enabled; false: no thread is held
bool hd_holds_wait(void); // time may pass, since only threads that are held could go on
void hd_holds_show(void); // puts them back
#endif
