// heddle: Many threads write two variables, and one reads both, without a lock.
// kind: assertion
// finding: d + c == 0
#define SEEDED
#include "../reorder.c"
