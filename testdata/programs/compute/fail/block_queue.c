// heddle: A block compressor in the shape of pbzip2: main queues blocks, workers compress them, a writer puts them out in order.
//   A worker stores the compressed size after it has handed the block to the writer.
// kind: assertion
// finding: write_in_order
// minimum: switches=2 preemptions=1
// why: The writer must take a block between the worker's handing over and the worker's store. The
//   worker takes its first block from main, so main, the worker and the writer run in this order:
//   two switches. Main leaves when the queue is full; the worker could go on with the store.
#define SEEDED
#include "../block_queue.c"
