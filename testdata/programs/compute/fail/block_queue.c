// heddle: A block compressor in the shape of pbzip2: main queues blocks, workers compress them, a writer puts them out in order.
//   A worker stores the compressed size after it has handed the block to the writer.
// kind: assertion
// finding: write_in_order
// minimum: switches=2 preemptions=1
// why: The writer must take a block after the worker has handed it over and before the worker stores
//   its size. The worker gets the block from main, so main, the worker and the writer run in this
//   order: two switches. Main blocks when the queue is full. The worker is enabled when it is
//   about to store the size: one preemption.
#define SEEDED
#include "../block_queue.c"
