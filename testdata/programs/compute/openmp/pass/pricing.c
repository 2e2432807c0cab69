// heddle: Option pricing with OpenMP: the threads of a team price options and add what theirs are worth to the portfolio's value.
// kind: clean
// flags: -fopenmp
#include "../pricing.c"
