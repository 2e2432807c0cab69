// enabled.c: decides whether a pending operation is enabled. Each operation registers its own
// condition (registration.h).
#include "core/cancellation.h"
#include "core/interrupts.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"

bool hd_enabled(const struct hd_thread *u) { return hd_op_enabled(u) || u->wait.due || (HD_UNLIKELY(hd.npending) && hd_signal_due(u)); }

bool hd_op_enabled(const struct hd_thread *u) { return hd_op_possible(u) && !(HD_UNLIKELY(u->wait.owed) && hd_owes(u)); }

bool hd_op_possible(const struct hd_thread *u) {
  const struct hd_operation *o = hd_operations[u->pend.op];
  if (!u->wait.on || u->wait.interrupted || (HD_UNLIKELY(u->cancel) && !o->timeout_event && hd_cancel_interrupts(u))) return true;
  return o->enabled && o->enabled(u);
}
