// heddle: A parallel sample sort in the shape of SWARM's, with barriers and a reduction over all workers.
// kind: clean
#include "../parallel_sort.c"
