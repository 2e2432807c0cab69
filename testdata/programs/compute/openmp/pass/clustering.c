// heddle: K-means with OpenMP: the threads of a team assign points to centres and add up their own, then a loop moves the centres.
// kind: clean
// flags: -fopenmp
#include "../clustering.c"
