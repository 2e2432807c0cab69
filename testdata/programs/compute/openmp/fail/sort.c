// heddle: Merge sort with OpenMP's tasks: a task sorts the smaller part while its creator sorts the larger one.
//   The parts are merged without waiting for the task.
// kind: assertion
// finding: main
// flags: -fopenmp
#define SEEDED
#include "../sort.c"
