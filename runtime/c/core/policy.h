// policy.h: scheduling decisions, by the script or else by the plan's policy.
#ifndef HD_CORE_POLICY_H
#define HD_CORE_POLICY_H
#include "core/run.h"

void hd_policy_begin(void);
void hd_policy_thread(struct hd_thread *t);   // t was created
void hd_policy_weigh(struct hd_thread *t, struct hd_thread *parent); // t was created and found in the plan's table; parent may be NULL
void hd_policy_fair(void);                    // at each decision until then: begins the fair phase when it is due
bool hd_policy_due(const struct hd_thread *t); // fairness needs a decision at the point that t, which runs, reaches next
void hd_policy_arrive(struct hd_thread *t);   // t has a new pending operation
uint32_t hd_policy_choose(void);              // slot of one of hd.enabled, which is not empty; sets the thread's detour
void hd_policy_done(struct hd_thread *t);     // t's operation was committed
uint32_t hd_policy_waiter(uint64_t op, uint64_t obj, bool choice); // slot of the waiter to wake; ~0: no waiter
void hd_script_begin(void);
void hd_script_thread(struct hd_thread *t);
enum { HD_SCRIPT_DIVERGES = -2 };
int32_t hd_script_rehearse(void);             // as hd_script_choose; HD_SCRIPT_DIVERGES where that ends the execution
int32_t hd_script_choose(void);               // slot of the chosen thread, whose detour it sets; -1: the policy decides
#endif
