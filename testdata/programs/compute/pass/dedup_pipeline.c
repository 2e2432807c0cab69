// heddle: A deduplication pipeline in the shape of PARSEC's dedup: main cuts the input into chunks, two threads look them up in a hash table, a third compresses what is new.
// kind: clean
#include "../dedup_pipeline.c"
