// heddle: Two drivers raise a flag each and yield to the other at most 5,000 times; then they lower it and turn around.
// kind: clean
// executions: few
#define GIVE_UP(me)                                          \
  do {                                                       \
    __atomic_store_n(&(me)->wants, 0, __ATOMIC_SEQ_CST);     \
    return NULL;                                             \
  } while (0)
#include "../bounded_courtesy.h"
