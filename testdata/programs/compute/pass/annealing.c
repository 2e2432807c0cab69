// heddle: Simulated annealing in the shape of PARSEC's canneal: two workers swap elements in steps that a barrier separates, and add what they gained to a shared total.
// kind: clean
#include "../annealing.c"
