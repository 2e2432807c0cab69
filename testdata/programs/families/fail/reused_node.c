// heddle: A lock-free stack compares only the index of its head, which may have been popped and pushed again.
// kind: assertion
// finding: was_in_use
#define SEEDED
#include "../reused_node.c"
