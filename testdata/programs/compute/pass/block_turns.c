// heddle: A block compressor in the shape of bzip2smp: each worker reads a block, compresses it, and waits for its turn to write it.
// kind: clean
#include "../block_turns.c"
