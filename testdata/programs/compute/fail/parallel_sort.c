// heddle: A parallel sample sort in the shape of SWARM's, with barriers and a reduction over all workers.
//   The reduction has one barrier: a fast worker begins the next one while a slow one still adds up.
// kind: assertion
// finding: worker
// minimum: switches=8 preemptions=0
// why: Between one barrier and the next, each of the three workers runs: two switches for each of
//   the sort's two barriers and for that of the first reduction. Main switches to the first of
//   them. The last to arrive at the reduction's barrier gets the right sum, begins the next
//   reduction and waits there. Then one that arrived earlier gets a wrong sum: one more.
#define SEEDED
#include "../parallel_sort.c"
