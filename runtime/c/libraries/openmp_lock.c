// openmp_lock.c: OpenMP's locks and critical sections, in place of those of libgomp and libomp. A
// lock's state is in the program's object: the first word is 0 for a free lock or 1 + its owner's
// number; the second word of a nestable lock is its count.
#define _GNU_SOURCE
#include <errno.h>
#include "core/omit.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "libraries/libraries.h"
#include "sync/sync.h"

static uint32_t me(void) { return hd_active() ? hd.cur->number + 1 : 1; }

static HD_PROGACCESS uint32_t owner_of(uint32_t *l) { return *l; }
static HD_PROGACCESS void set_owner(uint32_t *l, uint32_t v) { *l = v; }
static HD_PROGACCESS uint32_t add(uint32_t *count, uint32_t n) { return *count += n; }

static void check(uint32_t *l, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(l, pc);
}

static int lock(uint32_t *l, uint64_t pc, uint16_t op) {
  if (!hd_active()) { // before main, with a single thread
    set_owner(l, 1);
    return 0;
  }
  struct hd_thread *t = hd.cur;
  check(l, pc);
  if (hd_omits_lock(pc, l, 0)) return 0;
  hd_refresh(l, sizeof *l, pc);
  hd_pend(t, op, pc, (uint64_t)l);
  if (op == HD_OP_OMP_LOCK) hd_block_on(t, (uint64_t)l, 0);
  hd_point(t);
  check(l, pc);
  if (owner_of(l)) {
    hd_commit(t, 0, EBUSY);
    hd_observe(t, pc, 0);
    return EBUSY;
  }
  set_owner(l, me());
  hd_commit(t, 0, 0);
  hd_update((uint64_t)l);
  return 0;
}

static void unlock(uint32_t *l, uint64_t pc) {
  if (!hd_active()) {
    set_owner(l, 0);
    return;
  }
  check(l, pc);
  if (hd_omits_unlock(l, 0, pc)) return;
  struct hd_thread *t = hd_op(HD_OP_OMP_UNLOCK, pc, (uint64_t)l);
  check(l, pc);
  if (owner_of(l) != me()) hd_misuse(pc, (uint64_t)l, owner_of(l) ? "unset of an OpenMP lock that another thread holds" : "unset of an OpenMP lock that is not set");
  set_owner(l, 0);
  hd_progress(t);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)l);
}

static void set(uint32_t *l, uint64_t pc, uint16_t op) {
  if (hd_active()) {
    check(l, pc);
    struct hd_thread *t = hd_op(op, pc, (uint64_t)l);
    check(l, pc);
    if (op == HD_OP_OMP_LOCK_DESTROY && owner_of(l)) hd_misuse(pc, (uint64_t)l, "destroy of an OpenMP lock that is set");
    hd_commit(t, 0, 0);
  }
  set_owner(l, 0);
}

// ---- the functions; a process that heddle did not start uses the library's
#define LOCK(ret, name, parameters, arguments) \
  static ret (*library_##name) parameters; \
  static struct hd_library_function entry_##name = { #name, (void **)&library_##name }; \
  static inline __attribute__((always_inline)) ret interposed_##name parameters; \
  HD_EXPORT ret name parameters { \
    if (hd_controlled()) return interposed_##name arguments; \
    if (!library_##name) hd_library_find(&entry_##name); \
    return library_##name arguments; \
  } \
  static inline __attribute__((always_inline)) ret interposed_##name parameters

LOCK(void, omp_init_lock, (void *l), (l)) { set(l, HD_RA, HD_OP_OMP_LOCK_INIT); }
LOCK(void, omp_init_lock_with_hint, (void *l, int hint), (l, hint)) { (void)hint; set(l, HD_RA, HD_OP_OMP_LOCK_INIT); }
LOCK(void, omp_destroy_lock, (void *l), (l)) { set(l, HD_RA, HD_OP_OMP_LOCK_DESTROY); }
LOCK(void, omp_set_lock, (void *l), (l)) { lock(l, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, omp_unset_lock, (void *l), (l)) { unlock(l, HD_RA); }
LOCK(int, omp_test_lock, (void *l), (l)) { return !lock(l, HD_RA, HD_OP_OMP_TEST_LOCK); }

static uint32_t nest(uint32_t *l, uint64_t pc, uint16_t op) { // returns the new count, 0: not set
  if (owner_of(l) != me() && lock(l, pc, op)) return 0;
  return add(l + 1, 1);
}
static void init_nest(uint32_t *l, uint64_t pc) {
  set(l, pc, HD_OP_OMP_LOCK_INIT);
  set_owner(l + 1, 0);
}
LOCK(void, omp_init_nest_lock, (void *l), (l)) { init_nest(l, HD_RA); }
LOCK(void, omp_init_nest_lock_with_hint, (void *l, int hint), (l, hint)) { (void)hint; init_nest(l, HD_RA); }
LOCK(void, omp_destroy_nest_lock, (void *l), (l)) { set(l, HD_RA, HD_OP_OMP_LOCK_DESTROY); }
LOCK(void, omp_set_nest_lock, (void *l), (l)) { nest(l, HD_RA, HD_OP_OMP_LOCK); }
LOCK(int, omp_test_nest_lock, (void *l), (l)) { return (int)nest(l, HD_RA, HD_OP_OMP_TEST_LOCK); }
LOCK(void, omp_unset_nest_lock, (void *p), (p)) {
  uint32_t *l = p;
  if (owner_of(l) == me() && owner_of(l + 1) > 1) add(l + 1, ~0u);
  else {
    set_owner(l + 1, 0);
    unlock(l, HD_RA);
  }
}

// Critical sections. gcc identifies a named section by a pointer in the program, clang by 32 bytes.
// These are gcc's unnamed section and its section for atomic constructs that the processor does not
// support.
static uint32_t unnamed_critical, atomic_construct;

LOCK(void, GOMP_critical_start, (void), ()) { lock(&unnamed_critical, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, GOMP_critical_end, (void), ()) { unlock(&unnamed_critical, HD_RA); }
LOCK(void, GOMP_critical_name_start, (void **name), (name)) { lock((uint32_t *)name, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, GOMP_critical_name_end, (void **name), (name)) { unlock((uint32_t *)name, HD_RA); }
LOCK(void, GOMP_atomic_start, (void), ()) { lock(&atomic_construct, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, GOMP_atomic_end, (void), ()) { unlock(&atomic_construct, HD_RA); }
LOCK(void, __kmpc_critical, (void *where, int thread, void *name), (where, thread, name)) { lock(name, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, __kmpc_critical_with_hint, (void *where, int thread, void *name, unsigned hint), (where, thread, name, hint)) { lock(name, HD_RA, HD_OP_OMP_LOCK); }
LOCK(void, __kmpc_end_critical, (void *where, int thread, void *name), (where, thread, name)) { unlock(name, HD_RA); }

// Reductions. Of the methods by which compiled code can combine the threads' values, the runtime
// always selects the critical section. The blocking form ends with a barrier.
static void (*kmpc_barrier)(void *where, int thread);
static struct hd_library_function entry_barrier = { "__kmpc_barrier", (void **)&kmpc_barrier };
LOCK(int, __kmpc_reduce_nowait, (void *where, int thread, int n, size_t size, void *data, void (*f)(void *, void *), void *name), (where, thread, n, size, data, f, name)) {
  lock(name, HD_RA, HD_OP_OMP_LOCK);
  return 1;
}
LOCK(int, __kmpc_reduce, (void *where, int thread, int n, size_t size, void *data, void (*f)(void *, void *), void *name), (where, thread, n, size, data, f, name)) {
  lock(name, HD_RA, HD_OP_OMP_LOCK);
  return 1;
}
LOCK(void, __kmpc_end_reduce_nowait, (void *where, int thread, void *name), (where, thread, name)) { unlock(name, HD_RA); }
LOCK(void, __kmpc_end_reduce, (void *where, int thread, void *name), (where, thread, name)) {
  unlock(name, HD_RA);
  if (!kmpc_barrier) hd_library_find(&entry_barrier);
  kmpc_barrier(where, thread);
}

// ---- registration
static bool lock_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || !hd_word_or(u->pend.obj, 0); }
static uint32_t holder(const struct hd_thread *u, uint64_t *object) {
  (void)object;
  return hd_owner_at(u->pend.obj);
}
static void begin(void) { unnamed_critical = atomic_construct = 0; }

static const struct hd_operation operations[] = { { .op = HD_OP_OMP_LOCK, .enabled = lock_enabled, .holder = holder } };

const struct hd_registration hd_openmp_locks = { HD_OPERATIONS(operations), .begin = begin };
