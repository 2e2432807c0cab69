// heddle: A stack of free slots whose head has a version.
// kind: clean
#include "../claimed_stack.c"
