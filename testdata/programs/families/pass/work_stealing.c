// heddle: The owner of a work-stealing deque and its thieves settle who gets the last task.
// kind: clean
#include "../work_stealing.c"
