// heddle: A block compressor in the shape of bzip2smp: each worker reads a block, compresses it, and waits for its turn to write it.
//   Passing the turn on wakes one waiting worker, which need not be the one whose turn it is.
// kind: deadlock
// finding: write_block
// minimum: switches=5 preemptions=1
// why: Worker A, which writes block n, must find two others waiting: B with n+1 and C with a later
//   block. Its signal wakes C. They read in the order A, B, C, and B and C wait before A writes, so
//   A runs before B and after C, and C runs once more to wait again: main, A, B, C, A, C. Nothing
//   blocks A between reading its block and writing it: one preemption.
#define SEEDED
#include "../block_turns.c"
