// heddle: A deduplication pipeline in the shape of PARSEC's dedup: main cuts the input into chunks, two threads look them up in a hash table, a third compresses what is new.
//   Looking up a chunk and inserting it are two critical sections.
// kind: assertion
// finding: insert
// minimum: switches=3 preemptions=1
// why: One thread finds a chunk missing, the other inserts the same chunk, the first inserts it
//   again: main and three intervals. The first thread could go on; nobody holds the bucket's
//   lock while he is switched from without a preemption. The second thread takes all that is left and ends.
#define SEEDED
#include "../dedup_pipeline.c"
