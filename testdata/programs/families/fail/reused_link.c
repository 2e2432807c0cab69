// heddle: A removal from a lock-free list compares only a link, whose node may have been removed and put back, and links a node that has left the list.
// kind: assertion|hang
// finding: reused_link
#define SEEDED
#include "../reused_link.c"
