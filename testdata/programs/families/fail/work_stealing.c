// heddle: The owner of a work-stealing deque takes the last task without settling with the thieves, so two can run it.
// kind: assertion
// finding: times_run == 0
#define SEEDED
#include "../work_stealing.c"
