// heddle: Two threads take turns only if each is preempted after each of its turns, and may.
// kind: clean
#include "../chain.c"
