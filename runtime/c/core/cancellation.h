// cancellation.h: cancellation points. The functions that request a cancellation are in threads/.
#ifndef HD_CORE_CANCELLATION_H
#define HD_CORE_CANCELLATION_H
#include "core/sched.h"

enum { HD_CANCEL_PENDING = 1, HD_CANCEL_DISABLED = 2, HD_CANCEL_ASYNC = 4, HD_CANCEL_LEAVING = 8 };
// Reports whether the thread would act on a cancellation if it reached a cancellation point now.
static inline bool hd_cancel_due(const struct hd_thread *u) {
  return (u->cancel & (HD_CANCEL_PENDING | HD_CANCEL_DISABLED | HD_CANCEL_LEAVING)) == HD_CANCEL_PENDING;
}
bool hd_cancel_interrupts(const struct hd_thread *u); // reports whether a cancellation enables u's pending operation
bool hd_cancel_point(struct hd_thread *t);   // hd_point; true: t was cancelled, and the caller commits ECANCELED and acts
_Noreturn void hd_unwind(struct hd_thread *t, void *ret); // pthread_exit of t, which runs
_Noreturn void hd_cancel_act(struct hd_thread *t);
void hd_point_cancel(struct hd_thread *t);   // hd_cancel_point, commit and act, for operations that have nothing to undo
void hd_cancel_async(struct hd_thread *t);   // called when t has been chosen: acts on an asynchronous cancellation
#endif
