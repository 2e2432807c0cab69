// heddle: Many threads write two variables, and one reads both, under a lock.
// kind: clean
#include "../reorder.c"
