// A lock of its own, which the test compiles without access hooks.
#include <sched.h>

void own_lock(void);
void own_unlock(void);

static int taken;

void own_lock(void) {
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
void own_unlock(void) { __atomic_store_n(&taken, 0, __ATOMIC_RELEASE); }
