// once.c: pthread_once, and the guards of C++ function-local statics. States as libc and
// libstdc++ have them, so that a fast path compiled into the program agrees: once is 2
// when done, a guard's first byte is 1 when done. Running is odd.
#define _GNU_SOURCE
#include <pthread.h>
#include "core/libc.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "sync/sync.h"

static void usable(int *state, uint64_t pc) {
  hd_check_live(state, pc);
  hd_refresh(state, sizeof *state, pc);
}

// Returns true if this thread must run the initialiser. obj is the address that names the object:
// for a guard its first byte, which compiled code loads with acquire order.
static bool begin(int *state, int done, uint64_t pc, uint64_t obj) {
  struct hd_thread *t = hd.cur;
  usable(state, pc);
  hd_pend(t, HD_OP_ONCE_BEGIN, pc, obj);
  hd_block_on(t, (uint64_t)state, 0);
  hd_point(t);
  usable(state, pc);
  bool run = *state != done;
  if (run) *state = 1;
  hd_commit(t, run, 0);
  hd_update((uint64_t)state);
  return run;
}

static void end(int *state, int to, uint64_t pc, uint64_t obj) {
  if (!hd_active()) { // the initialiser has forked, and this is the child
    *state = to;
    return;
  }
  struct hd_thread *t = hd_op(HD_OP_ONCE_END, pc, obj);
  usable(state, pc);
  *state = to;
  hd_progress(t);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)state);
}

struct once_frame { int *state; uint64_t pc; bool active; };
static void unwound(struct once_frame *f) { // the initialiser left by exception or pthread_exit
  if (f->active) end(f->state, 0, f->pc, (uint64_t)f->state);
}

void hd_once(int *once, void (*fn)(void), uint64_t pc) {
  if (!begin(once, 2, pc, (uint64_t)once)) return;
  struct once_frame f __attribute__((cleanup(unwound))) = { once, pc, true };
  fn();
  f.active = false;
  end(once, 2, pc, (uint64_t)once);
}

HD_INTERPOSE(int, pthread_once, (pthread_once_t *once, void (*fn)(void)), (once, fn)) {
  hd_once(once, fn, HD_RA);
  return 0;
}

// Outside an execution the C++ library does it, if it was loaded when the program started. If a
// plug-in brought or contains it, its functions cannot be found.
static int guard_acquire(uint64_t *guard) {
  int *state = (int *)guard + 1;
  for (int free = 0; !__atomic_load_n((char *)guard, __ATOMIC_ACQUIRE); free = 0) {
    if (__atomic_compare_exchange_n(state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 1;
    hd_sys(SYS_sched_yield, 0, 0, 0);
  }
  return 0;
}

// A guard has 64 bits; compiled code tests the first byte. The second word
// holds the state here, in the encoding of pthread_once.
int *hd_guard_state(uint64_t *guard) { return (int *)guard + 1; }

HD_EXPORT int __cxa_guard_acquire(uint64_t *guard) {
  if (!hd_active()) return REAL(__cxa_guard_acquire) ? REAL(__cxa_guard_acquire)(guard) : guard_acquire(guard);
  int *state = (int *)guard + 1;
  hd_refresh(guard, sizeof *guard, HD_RA);
  if (*(char *)guard) return 0;
  return begin(state, 2, HD_RA, (uint64_t)guard);
}

HD_EXPORT void __cxa_guard_release(uint64_t *guard) {
  int *state = (int *)guard + 1;
  if (!hd_active()) {
    if (REAL(__cxa_guard_release)) REAL(__cxa_guard_release)(guard);
    else __atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
    return;
  }
  struct hd_thread *t = hd_op(HD_OP_ONCE_END, HD_RA, (uint64_t)guard);
  hd_check_live(guard, HD_RA);
  hd_refresh(guard, sizeof *guard, HD_RA);
  *state = 2;
  __atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
  hd_progress(t);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)state);
}

HD_EXPORT void __cxa_guard_abort(uint64_t *guard) {
  int *state = (int *)guard + 1;
  if (!hd_active()) {
    if (REAL(__cxa_guard_abort)) REAL(__cxa_guard_abort)(guard);
    else __atomic_store_n(state, 0, __ATOMIC_RELEASE);
    return;
  }
  end(state, 0, HD_RA, (uint64_t)guard);
}

// ---- for the scheduler
static bool begin_enabled(const struct hd_thread *u) { return hd_freed(u->wait.on) || !(hd_word_or(u->wait.on, 0) & 1); }
static uint32_t runs_it(const struct hd_thread *u, uint64_t *object) {
  (void)object;
  return (uint32_t)u->pend.aux;
}

static const struct hd_operation operations[] = { { .op = HD_OP_ONCE_BEGIN, .enabled = begin_enabled, .holder = runs_it } };

const struct hd_registration hd_onces = { HD_OPERATIONS(operations) };
