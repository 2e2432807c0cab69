// heddle: Simulated annealing in the shape of PARSEC's canneal: two workers swap elements in steps that a barrier separates, and add what they gained to a shared total.
//   They add without a lock.
// kind: assertion
// finding: main
// minimum: switches=10 preemptions=1
// why: Main starts, and main's joins end the trace: two switches. Both workers arrive at each of the
//   six barriers, so each step has a switch between the workers, and after the last barrier the
//   one that arrived first still has to leave: seven. In the step with the lost update, one worker
//   reads, the other writes, the first writes: one more switch. Nothing blocks a worker
//   between reading and writing: one preemption.
#define SEEDED
#include "../annealing.c"
