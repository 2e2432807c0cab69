// spinlock.c: spin locks. 1 is unlocked, as in glibc on x86-64. A thread that would spin is
// not enabled until the lock is free.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/libc.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "sync/sync.h"

static int value_of(volatile int *p, uint64_t pc) {
  hd_check_live((void *)p, pc);
  hd_refresh((void *)p, sizeof *p, pc);
  return *p;
}

static int lock(volatile int *s, uint64_t pc, uint16_t op) {
  struct hd_thread *t = hd.cur;
  int now = value_of(s, pc);
  if (now != 0 && now != 1) hd_misuse(pc, (uint64_t)s, "use of a spin lock that was not initialised, or was overwritten");
  if (hd_omits_lock(pc, (void *)s, 0)) return 0;
  hd_pend(t, op, pc, (uint64_t)s);
  if (op == HD_OP_SPIN_LOCK) hd_block_on(t, (uint64_t)s, 0);
  hd_point(t);
  if (value_of(s, pc) != 1) {
    hd_commit(t, 0, EBUSY);
    hd_observe(t, pc, 0);
    return EBUSY;
  }
  *s = 0;
  hd_commit(t, 0, 0);
  hd_update((uint64_t)s);
  return 0;
}

HD_INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t *s), (s)) { return lock(s, HD_RA, HD_OP_SPIN_LOCK); }
HD_INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t *s), (s)) { return lock(s, HD_RA, HD_OP_SPIN_TRYLOCK); }

static int set(volatile int *s, uint64_t pc, uint16_t op, int v) {
  (void)value_of(s, pc);
  if (op == HD_OP_SPIN_UNLOCK && hd_omits_unlock((void *)s, 0, pc)) return 0;
  struct hd_thread *t = hd_op(op, pc, (uint64_t)s);
  (void)value_of(s, pc);
  if (op == HD_OP_SPIN_UNLOCK && *s == 1) hd_misuse(pc, (uint64_t)s, "unlock of a spin lock that is not held");
  if (op == HD_OP_SPIN_DESTROY && *s != 1) hd_misuse(pc, (uint64_t)s, "destroy of a locked spin lock");
  *s = v;
  hd_commit(t, 0, 0);
  hd_update((uint64_t)s);
  return 0;
}

HD_INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t *s), (s)) { return set(s, HD_RA, HD_OP_SPIN_UNLOCK, 1); }
HD_INTERPOSE(int, pthread_spin_init, (pthread_spinlock_t *s, int shared), (s, shared)) { return set(s, HD_RA, HD_OP_SPIN_INIT, 1); }
HD_INTERPOSE(int, pthread_spin_destroy, (pthread_spinlock_t *s), (s)) { return set(s, HD_RA, HD_OP_SPIN_DESTROY, 1); }

// ---- for the scheduler
static bool lock_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || hd_word_or(u->pend.obj, 1) == 1; }

static const struct hd_operation operations[] = { { .op = HD_OP_SPIN_LOCK, .enabled = lock_enabled, .async_cancel = true } };

const struct hd_registration hd_spinlocks = { HD_OPERATIONS(operations) };
