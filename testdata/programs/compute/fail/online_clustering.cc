// heddle: Online clustering in the shape of PARSEC's streamcluster: three workers try one point after the other as a centre, with a hand-made barrier in each pass.
//   The last to arrive resets the count after it has released the lock, and so discards threads that have arrived at the next pass's barrier by then.
// kind: deadlock
// finding: Wait
// minimum: switches=6 preemptions=1
// why: Let C be the last to arrive, and A one that arrives at the next barrier before C resets the
//   count. A waits first, and arrives at the next barrier after C has woken it; C wakes the others
//   before that and resets the count after; B waits first, and again after it has been woken. So
//   two intervals of each, and one of main: six switches. Nothing blocks C between releasing the
//   lock and the reset: one preemption.
#define SEEDED
#include "../online_clustering.cc"
