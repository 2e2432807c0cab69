// What the programs do between two accesses to shared memory.
#include <stdlib.h>

// computed is what n steps of a thread's own computation make of x.
static inline unsigned computed(unsigned x, long n) {
  for (long i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
  __asm__ volatile("" ::: "memory"); // keeps accesses to shared memory where they are written
  return x;
}

// work_of is how long to compute: the first argument, or 20000 steps.
static inline long work_of(int argc, char **argv) { return argc > 1 ? atol(argv[1]) : 20000; }
