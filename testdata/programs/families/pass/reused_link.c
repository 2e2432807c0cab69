// heddle: A lock-free list whose links have versions.
// kind: clean
#include "../reused_link.c"
