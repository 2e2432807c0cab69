// What the programs of this directory share: their argument, and random numbers that are the same
// in every execution.
#ifndef COMPUTE_H
#define COMPUTE_H

#include <stdlib.h>

// work returns the number of units of work in the program's argument. The argument is the number
// of memory accesses that an execution should make, roughly; a unit makes `cost` of them. Without
// an argument, an execution makes a few thousand accesses.
static inline size_t work(int argc, char **argv, size_t cost) {
  size_t accesses = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
  return accesses > cost ? accesses / cost : 1;
}

static inline unsigned next_random(unsigned *state) {
  *state = *state * 1103515245 + 12345;
  return *state >> 16 & 0x7fff;
}

#endif
