// heddle: A stack of free slots claims a slot by taking its link, but does not notice that the slot was popped and pushed again since it read the head.
// kind: assertion
// finding: user_of
#define SEEDED
#include "../claimed_stack.c"
