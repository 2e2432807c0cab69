// rwlock.c: reader-writer locks. Fields of our own in the object: readers (0), a mark for a
// destroyed one (4), writer's thread number + 1 (8), writers that readers must not overtake
// (12). All zero is unlocked, as for glibc, whose field for the kind (48) is kept.
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
#include "core/virtual_time.h"
#include "sync/sync.h"

enum { DESTROYED = 0x44454144 };
struct rwlock { uint32_t readers, destroyed, writer, queued; };

static HD_PROGACCESS uint32_t mark_of(struct rwlock *l) { return l->destroyed; }

static struct rwlock *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(p, pc);
  hd_refresh(p, sizeof(pthread_rwlock_t), pc);
  if (mark_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed reader-writer lock");
  return p;
}

// In glibc, too, the other kinds with a preference only affect timing. This kind blocks a reader
// that arrives after a waiting writer, even if the thread already holds a read lock.
static bool writers_first(const struct rwlock *l) {
  return (int)((const pthread_rwlock_t *)l)->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static bool available(uint64_t p, bool write) {
  const struct rwlock *l = (const struct rwlock *)p;
  return !hd_word_or((uint64_t)&l->writer, 0) && !hd_word_or((uint64_t)(write ? &l->readers : &l->queued), 0);
}

int hd_rwlock_take(void *p, bool write, const struct hd_thread *t) {
  struct rwlock *l = p;
  if (l->writer == t->number + 1) return EDEADLK;
  if (l->writer || (write && l->readers)) return EBUSY;
  if (write) l->writer = t->number + 1;
  else l->readers++;
  return 0;
}

void hd_rwlock_release(void *p) {
  struct rwlock *l = p;
  if (l->writer) l->writer = 0;
  else if (l->readers) l->readers--;
}

uint32_t hd_rwlock_writer(void *l) { return ((struct rwlock *)l)->writer; }

static int lock(void *p, uint64_t pc, uint16_t op, bool write, bool try, const struct hd_deadline *until) {
  struct rwlock *l = usable(p, pc);
  if (hd_omits_lock(pc, l, 0)) return 0;
  struct hd_thread *t = hd.cur;
  bool own = l->writer == t->number + 1, queue = write && !try && !own && writers_first(l);
  if (queue) {
    hd_op(HD_OP_RWLOCK_QUEUE, pc, (uint64_t)l);
    usable(l, pc)->queued++;
    hd_commit(t, 0, 0);
    hd_update((uint64_t)l);
  }
  hd_pend(t, op, pc, (uint64_t)l);
  if (!try && !own) {
    hd_block_on(t, (uint64_t)l, 0);
    if (until) hd_timer(t, until);
  }
  hd_point(t);
  usable(l, pc);
  if (queue) l->queued--;
  int r = 0;
  if (own) r = try ? EBUSY : EDEADLK;
  else if (!available((uint64_t)l, write)) r = try ? EBUSY : ETIMEDOUT;
  else if (write) l->writer = t->number + 1;
  else l->readers++;
  hd_commit(t, 0, r);
  hd_update((uint64_t)l);
  if (try && r && !own) hd_observe(t, pc, 1);
  if (r == ETIMEDOUT) hd_timed_out(t, pc);
  return r;
}

static int timed(void *l, uint64_t pc, bool write, int clock, const struct timespec *abs) {
  struct hd_deadline d;
  if (!hd_wait_clock(clock) || !hd_deadline(&d, clock, abs)) return EINVAL;
  return lock(l, pc, write ? HD_OP_RWLOCK_TIMEDWRLOCK : HD_OP_RWLOCK_TIMEDRDLOCK, write, false, &d);
}

// ---- before main, where libc's state of a lock would mean something else later. A lock that is held when main
// begins is main's. Threads that constructors create run in parallel.
static int early_guard;
static int early(void *p, bool write, bool try) {
  struct rwlock *l = p;
  for (;; REAL(sched_yield)()) {
    while (__atomic_exchange_n(&early_guard, 1, __ATOMIC_ACQUIRE)) REAL(sched_yield)();
    bool free = !l->writer && !(write && l->readers);
    if (free && write) l->writer = 1; // main's number + 1
    else if (free) l->readers++;
    __atomic_store_n(&early_guard, 0, __ATOMIC_RELEASE);
    if (free) return 0;
    if (try) return EBUSY;
  }
}

static int early_unlock(void *p) {
  while (__atomic_exchange_n(&early_guard, 1, __ATOMIC_ACQUIRE)) REAL(sched_yield)();
  hd_rwlock_release(p);
  __atomic_store_n(&early_guard, 0, __ATOMIC_RELEASE);
  return 0;
}

#define EARLY(write, try) if (HD_UNLIKELY(!hd_active())) return early(l, write, try)
HD_INTERPOSE_MODELLED(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l)) {
  EARLY(false, false);
  return lock(l, HD_RA, HD_OP_RWLOCK_RDLOCK, false, false, NULL);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l)) {
  EARLY(true, false);
  return lock(l, HD_RA, HD_OP_RWLOCK_WRLOCK, true, false, NULL);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l)) {
  EARLY(false, true);
  return lock(l, HD_RA, HD_OP_RWLOCK_TRYRDLOCK, false, true, NULL);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l)) {
  EARLY(true, true);
  return lock(l, HD_RA, HD_OP_RWLOCK_TRYWRLOCK, true, true, NULL);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, const struct timespec *abs), (l, abs)) {
  EARLY(false, false);
  return timed(l, HD_RA, false, CLOCK_REALTIME, abs);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, const struct timespec *abs), (l, abs)) {
  EARLY(true, false);
  return timed(l, HD_RA, true, CLOCK_REALTIME, abs);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *abs), (l, clock, abs)) {
  EARLY(false, false);
  return timed(l, HD_RA, false, clock, abs);
}
HD_INTERPOSE_MODELLED(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *abs), (l, clock, abs)) {
  EARLY(true, false);
  return timed(l, HD_RA, true, clock, abs);
}

HD_INTERPOSE_MODELLED(int, pthread_rwlock_unlock, (pthread_rwlock_t *p), (p)) {
  if (HD_UNLIKELY(!hd_active())) return early_unlock(p);
  struct rwlock *l = usable(p, HD_RA);
  if (hd_omits_unlock(l, 0, HD_RA)) return 0;
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_UNLOCK, HD_RA, (uint64_t)p);
  usable(l, HD_RA);
  if (l->writer == t->number + 1) l->writer = 0;
  else if (!l->writer && l->readers) l->readers--;
  else hd_misuse(HD_RA, (uint64_t)l, "unlock of a reader-writer lock that is not held");
  hd_commit(t, 0, 0);
  hd_update((uint64_t)l);
  return 0;
}

HD_INTERPOSE(int, pthread_rwlock_init, (pthread_rwlock_t *p, const pthread_rwlockattr_t *a), (p, a)) {
  hd_refresh(p, sizeof *p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_INIT, HD_RA, (uint64_t)p);
  int r = REAL(pthread_rwlock_init)(p, a);
  hd_fill(p, 0, sizeof(struct rwlock));
  hd_commit(t, 0, r);
  return r;
}

HD_INTERPOSE(int, pthread_rwlock_destroy, (pthread_rwlock_t *p), (p)) {
  struct rwlock *l = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_DESTROY, HD_RA, (uint64_t)p);
  usable(l, HD_RA);
  if (l->writer || l->readers) hd_misuse(HD_RA, (uint64_t)l, "destroy of a locked reader-writer lock");
  l->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

// ---- for the scheduler
static bool rdlock_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || available(u->pend.obj, false); }
static bool wrlock_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || available(u->pend.obj, true); }
static bool timedrdlock_enabled(const struct hd_thread *u) { return u->wait.timed_out || rdlock_enabled(u); }
static bool timedwrlock_enabled(const struct hd_thread *u) { return u->wait.timed_out || wrlock_enabled(u); }
static uint32_t holder(const struct hd_thread *u, uint64_t *object) {
  (void)u;
  return hd_owner_at(*object + offsetof(struct rwlock, writer));
}

static const struct hd_operation operations[] = {
  { .op = HD_OP_RWLOCK_RDLOCK, .enabled = rdlock_enabled, .holder = holder, .async_cancel = true },
  { .op = HD_OP_RWLOCK_WRLOCK, .enabled = wrlock_enabled, .holder = holder, .async_cancel = true },
  { .op = HD_OP_RWLOCK_TIMEDRDLOCK, .enabled = timedrdlock_enabled, .holder = holder, .async_cancel = true },
  { .op = HD_OP_RWLOCK_TIMEDWRLOCK, .enabled = timedwrlock_enabled, .holder = holder, .async_cancel = true },
};

const struct hd_registration hd_rwlocks = { HD_OPERATIONS(operations) };
