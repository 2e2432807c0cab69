// heddle: Merge sort with OpenMP's tasks: a task sorts the smaller part while its creator sorts the larger one.
// kind: clean
// flags: -fopenmp
#include "../sort.c"
