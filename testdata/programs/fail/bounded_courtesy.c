// heddle: Two drivers raise a flag each and yield to the other at most 5,000 times; then they cross without regard for it, and may meet.
//   Until then, neither makes progress, so the execution looks like the hang of polite_livelock.c.
// kind: assertion
// finding: cross
// executions: few
// simplified: partly
#define GIVE_UP(me) ((void)(me))
#include "../bounded_courtesy.h"
// cause: on_bridge: __atomic_add_fetch(&on_bridge | __atomic_sub_fetch(&on_bridge
