// heddle: Option pricing with OpenMP: the threads of a team price options and add what theirs are worth to the portfolio's value.
//   They add without atomic.
// kind: assertion
// finding: main
// flags: -fopenmp
#define SEEDED
#include "../pricing.c"
