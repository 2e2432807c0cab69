// heddle: A lock-free stack whose head has a version.
// kind: clean
#include "../reused_node.c"
