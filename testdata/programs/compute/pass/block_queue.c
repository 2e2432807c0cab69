// heddle: A block compressor in the shape of pbzip2: main queues blocks, workers compress them, a writer puts them out in order.
// kind: clean
#include "../block_queue.c"
