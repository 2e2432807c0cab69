// heddle: K-means with OpenMP: the threads of a team assign points to centres and add up their own, then a loop moves the centres.
//   The loop that moves them has no barrier: a fast thread begins the next pass with centres that have not been moved.
// kind: assertion
// finding: main
// flags: -fopenmp
#define SEEDED
#include "../clustering.c"
