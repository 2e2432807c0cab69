// heddle: A tracing library in the shape of ctrace, and threads that compute and log: a buffer that is full is written to the log, with the log's lock and the registry's.
//   Registering takes these locks in the other order.
// kind: deadlock
// finding: wait for one another
// minimum: switches=2 preemptions=1
// why: One thread has the log's lock and wants the registry's, another has the registry's and wants
//   the log's; main has neither. So main and an interval of each, and the first of the two could have taken its second lock:
//   one preemption.
#define SEEDED
#include "../event_tracer.c"
