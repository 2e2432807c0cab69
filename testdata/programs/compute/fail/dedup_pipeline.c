// heddle: A deduplication pipeline in the shape of PARSEC's dedup: main cuts the input into chunks, two threads look them up in a hash table, a third compresses what is new.
//   Looking up a chunk and inserting it are two critical sections.
// kind: assertion
// finding: insert
// minimum: switches=3 preemptions=1
// why: One thread finds a chunk missing, the other inserts the same chunk, the first inserts it
//   again: main and three intervals. Between its look-up and its insertion the first thread can
//   only block on the bucket's lock, and a thread that holds that lock loses the processor only
//   by a preemption: one preemption. The second thread takes all chunks that are left and ends.
#define SEEDED
#include "../dedup_pipeline.c"
