// heddle: Two threads take turns only if each is preempted after each of its turns, which is called an error.
// kind: assertion
// finding: atomic_load(&turn) <= DEPTH
#define SEEDED
#include "../chain.c"
