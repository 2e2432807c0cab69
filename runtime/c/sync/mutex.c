// mutex.c: mutexes of all types. Their state is in the program's own object, in glibc's
// fields, so that static initialisers work, a debugger shows it, and restoring memory restores
// it: lock (int at 0; its high bits are the priority ceiling), recursion count
// (4), owner (8, thread number + 1), kind (16). The number of users (12) is not needed; for
// robust mutexes it records whether the state they guard is consistent, and their list links
// (24, 32) connect those that a thread holds.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/libc.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/threads.h"
#include "core/virtual_time.h"
#include "memory/access.h"
#include "memory/shared_state.h"
#include "sync/sync.h"

enum { DESTROYED = -1, ROBUST = 16, PRIO_PROTECT = 64, CEILING_SHIFT = 19, LOCKED = (1 << CEILING_SHIFT) - 1 };
enum { SOUND, INCONSISTENT, LOST }; // the state a robust mutex guards
struct mutex { int lock; uint32_t count; uint32_t owner; uint32_t state; int kind; int spins; uint64_t prev, next; };

// Writes to both ends of the object through the program's pointer, so that a bad pointer faults
// as the program's. No other thread can unmap the memory before the next scheduling point.
static HD_PROGACCESS int kind_of(volatile struct mutex *m) {
  (void)m->lock;
  (void)m->next;
  return m->kind = m->kind;
}

static void link_robust(struct mutex *m, struct hd_thread *t);

// A mutex that main's thread has locked before main has the kernel's number of that thread as owner, as libc
// wrote it. Numbers of threads are smaller, unless the process has a very small identifier.
static HD_PROGACCESS void adopt(struct mutex *m) {
  if (HD_LIKELY(m->owner <= hd.nborn) || !(m->lock & LOCKED) || m->owner != (uint32_t)hd_process) return;
  m->owner = 1; // main's number + 1
  if (!(m->kind & ROBUST)) return;
  m->state = SOUND;
  struct hd_thread *owner = hd_thread_numbered(0);
  if (owner) link_robust(m, owner);
}

static struct mutex *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc; // where a fault in what follows is reported
  hd_check_live(p, pc);
  if (kind_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed mutex");
  adopt(p);
  return p;
}

static int type_of(const struct mutex *m) { return m->kind & 3; }
static bool robust(const struct mutex *m) { return m->kind & ROBUST; }
static bool locked(const struct mutex *m) { return m->lock & LOCKED; }

int hd_mutex_type(uint64_t m) { return type_of((struct mutex *)m); }
bool hd_mutex_free(uint64_t m) { return !(hd_word_or(m, 0) & LOCKED); }
HD_PROGACCESS bool hd_mutex_held(uint64_t m, const struct hd_thread *t) {
  return locked((struct mutex *)m) && ((struct mutex *)m)->owner == t->number + 1;
}

// How often t holds it.
static HD_PROGACCESS uint32_t depth_of(const struct mutex *m, const struct hd_thread *t) {
  return !hd_mutex_held((uint64_t)m, t) ? 0 : m->count ? m->count : 1;
}

uint32_t hd_mutex_depth(uint64_t m, const struct hd_thread *t) { return depth_of((struct mutex *)m, t); }
HD_PROGACCESS void hd_mutex_recount(uint64_t m, uint32_t count) {
  if (type_of((struct mutex *)m) == PTHREAD_MUTEX_RECURSIVE) ((struct mutex *)m)->count = count;
}

// ---- robust mutexes that a thread holds, newest first
static HD_PROGACCESS void link_robust(struct mutex *m, struct hd_thread *t) {
  m->prev = 0;
  m->next = t->robust;
  if (m->next) ((struct mutex *)m->next)->prev = (uint64_t)m;
  t->robust = (uint64_t)m;
}

static HD_PROGACCESS void unlink_robust(struct mutex *m, struct hd_thread *t) {
  if (m->prev) ((struct mutex *)m->prev)->next = m->next;
  else t->robust = m->next;
  if (m->next) ((struct mutex *)m->next)->prev = m->prev;
}

HD_PROGACCESS uint32_t hd_mutex_release_all(uint64_t p) {
  struct mutex *m = (struct mutex *)p;
  uint32_t count = m->count;
  if (robust(m)) {
    struct hd_thread *owner = hd_thread_numbered(m->owner - 1); // NULL: the program has written into it
    if (owner) unlink_robust(m, owner);
    if (m->state == INCONSISTENT) m->state = LOST; // no thread called pthread_mutex_consistent
  }
  m->lock &= ~LOCKED;
  m->owner = 0;
  m->count = 0;
  return count;
}

HD_PROGACCESS int hd_mutex_take(uint64_t p, struct hd_thread *t, uint32_t count) {
  struct mutex *m = (struct mutex *)p;
  if (robust(m) && m->state == LOST) return ENOTRECOVERABLE;
  m->lock |= 1;
  m->owner = t->number + 1;
  m->count = count;
  if (!robust(m)) return 0;
  link_robust(m, t);
  return m->state == INCONSISTENT ? EOWNERDEAD : 0;
}

// The thread is about to end. The robust mutexes it still holds become free, and the next thread
// to acquire one gets EOWNERDEAD.
static HD_PROGACCESS void abandon(struct mutex *m) {
  hd_mutex_release_all((uint64_t)m);
  m->state = INCONSISTENT;
}

// Reports whether t still holds it. The kernel, which does this for glibc, stops at memory that
// was unmapped and at a mutex the program has overwritten, which also breaks the list.
static bool still_held(uint64_t m, const struct hd_thread *t) {
  hd_check_live((void *)m, (uint64_t)t->entry); // the end has no instruction of the program's own
  return hd_word_or(m, 0) & LOCKED && hd_mutex_held(m, t);
}

static void abandon_all(struct hd_thread *t) {
  while (t->robust && still_held(t->robust, t)) {
    uint64_t m = t->robust;
    hd_op(HD_OP_MUTEX_ABANDON, 0, m);
    bool held = still_held(m, t);
    if (held) abandon((struct mutex *)m);
    hd_progress(t);
    hd_commit(t, 0, held ? 0 : EINVAL);
    hd_update(m);
    if (!held) break;
  }
  t->robust = 0;
}

// ---- locking
static int take(struct mutex *m, struct hd_thread *t) {
  return hd_mutex_take((uint64_t)m, t, type_of(m) == PTHREAD_MUTEX_RECURSIVE);
}

int hd_mutex_lock(void *p, uint64_t pc, uint16_t op, const struct hd_deadline *until) {
  struct mutex *m = usable(p, pc);
  struct hd_thread *t = hd.cur;
  if (hd_omits_lock(pc, m, depth_of(m, t)) || hd_tried_acquires((uint64_t)m, type_of(m) == PTHREAD_MUTEX_RECURSIVE)) return 0;
  hd_pend(t, op, pc, (uint64_t)m);
  bool own = hd_mutex_held((uint64_t)m, t), bad = until && until->vtime == HD_BAD_TIME;
  if (!bad && (!own || type_of(m) == PTHREAD_MUTEX_NORMAL || type_of(m) == PTHREAD_MUTEX_ADAPTIVE_NP)) {
    hd_block_on(t, (uint64_t)m, 0);
    if (until) hd_timer(t, until);
  }
  hd_point(t);
  usable(m, pc); // destroyed while we waited
  int r;
  if (own && type_of(m) == PTHREAD_MUTEX_ERRORCHECK) r = EDEADLK;
  else if (own && type_of(m) == PTHREAD_MUTEX_RECURSIVE) {
    r = m->count == ~0u ? EAGAIN : 0;
    m->count += !r;
  } else if (locked(m)) r = bad ? EINVAL : ETIMEDOUT;
  else r = take(m, t);
  hd_commit(t, 0, r);
  hd_update((uint64_t)m);
  if (r == ETIMEDOUT) hd_timed_out(t, pc);
  return r;
}

HD_INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t *m), (m)) { return hd_mutex_lock(m, HD_RA, HD_OP_MUTEX_LOCK, NULL); }

int hd_mutex_timedlock(void *m, int clock, const struct timespec *abs, uint64_t pc) {
  struct hd_deadline d;
  if (!hd_wait_clock(clock)) return EINVAL;
  if (!hd_deadline(&d, clock, abs)) d.vtime = HD_BAD_TIME;
  return hd_mutex_lock(m, pc, HD_OP_MUTEX_TIMEDLOCK, &d);
}

HD_INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *abs), (m, abs)) {
  return hd_mutex_timedlock(m, CLOCK_REALTIME, abs, HD_RA);
}

HD_INTERPOSE(int, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t clock, const struct timespec *abs), (m, clock, abs)) {
  return hd_mutex_timedlock(m, clock, abs, HD_RA);
}

int hd_mutex_trylock(void *p, uint64_t pc) {
  struct mutex *m = usable(p, pc);
  if (hd_omits_lock(pc, m, depth_of(m, hd.cur)) || hd_tried_acquires((uint64_t)m, type_of(m) == PTHREAD_MUTEX_RECURSIVE)) return 0;
  struct hd_thread *t = hd_op(HD_OP_MUTEX_TRYLOCK, pc, (uint64_t)p);
  usable(m, pc);
  int r;
  if (!locked(m)) r = take(m, t);
  else if (hd_mutex_held((uint64_t)m, t) && type_of(m) == PTHREAD_MUTEX_RECURSIVE) {
    r = m->count == ~0u ? EAGAIN : 0;
    m->count += !r;
  } else r = robust(m) && hd_mutex_held((uint64_t)m, t) && type_of(m) == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : EBUSY;
  hd_commit(t, 0, r);
  if (!r || r == EOWNERDEAD) hd_update((uint64_t)m);
  if (r == EBUSY) hd_observe(t, pc, (uint64_t)r | (uint64_t)m->owner << 32);
  return r;
}

HD_INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m)) { return hd_mutex_trylock(m, HD_RA); }

int hd_mutex_unlock(void *p, uint64_t pc) {
  struct mutex *m = usable(p, pc);
  if (hd_omits_unlock(m, depth_of(m, hd.cur), pc)) return 0;
  enum hd_tried tried = hd_tried_releases((uint64_t)m);
  if (tried == HD_TRIED_RELEASED) return 0;
  struct hd_thread *t = hd_op(HD_OP_MUTEX_UNLOCK, pc, (uint64_t)p);
  usable(m, pc);
  if (!hd_mutex_held((uint64_t)m, t) || tried == HD_TRIED_ONLY) {
    if (type_of(m) == PTHREAD_MUTEX_ERRORCHECK || type_of(m) == PTHREAD_MUTEX_RECURSIVE || robust(m)) {
      hd_commit(t, 0, EPERM); // POSIX requires an error for these types
      return EPERM;
    }
    hd_misuse(pc, (uint64_t)m, locked(m) && tried != HD_TRIED_ONLY ? "unlock of a mutex that another thread holds" : "unlock of a mutex that is not held");
  }
  if (type_of(m) == PTHREAD_MUTEX_RECURSIVE && --m->count) {
    hd_commit(t, 0, 0);
    return 0;
  }
  hd_mutex_release_all((uint64_t)m);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)m);
  return 0;
}

void (*hd_unlocked)(uint64_t pc);
HD_INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m)) {
  int r = hd_mutex_unlock(m, HD_RA);
  if (HD_UNLIKELY(hd_unlocked != NULL)) hd_unlocked(HD_RA);
  return r;
}

static int consistent(void *p, uint64_t pc) {
  struct mutex *m = usable(p, pc);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_CONSISTENT, pc, (uint64_t)p);
  usable(m, pc);
  int r = robust(m) && locked(m) && m->state == INCONSISTENT ? 0 : EINVAL;
  if (!r) m->state = SOUND;
  hd_commit(t, 0, r);
  return r;
}

HD_INTERPOSE(int, pthread_mutex_consistent, (pthread_mutex_t *m), (m)) { return consistent(m, HD_RA); }

// ---- life
int hd_mutex_init(void *p, const void *attr, uint64_t pc) {
  hd_refresh(p, sizeof(pthread_mutex_t), pc);
  if (hd_access_exempts(pc)) return REAL(pthread_mutex_init)(p, attr); // others may spin until it is done
  struct hd_thread *t = hd_op(HD_OP_MUTEX_INIT, pc, (uint64_t)p);
  int r = REAL(pthread_mutex_init)(p, attr);
  hd_commit(t, 0, r);
  return r;
}

HD_INTERPOSE(int, pthread_mutex_init, (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a)) { return hd_mutex_init(m, a, HD_RA); }

int hd_mutex_destroy(void *p, uint64_t pc) {
  struct mutex *m = usable(p, pc);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_DESTROY, pc, (uint64_t)p);
  usable(m, pc);
  if (locked(m)) hd_misuse(pc, (uint64_t)m, "destroy of a locked mutex");
  if (hd_waited_for((uint64_t)m, t, HD_OP_COND_WAKE)) hd_misuse(pc, (uint64_t)m, "destroy of a mutex that a condition wait will lock again");
  m->kind = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

HD_INTERPOSE(int, pthread_mutex_destroy, (pthread_mutex_t *m), (m)) { return hd_mutex_destroy(m, HD_RA); }

// The ceiling is stored and returned; heddle does not model priorities. The caller acquires the mutex
// to change it.
static int set_ceiling(void *p, int ceiling, int *old, uint64_t pc) {
  struct mutex *m = usable(p, pc);
  if (!(m->kind & PRIO_PROTECT) || ceiling < 1 || ceiling > 99) return EINVAL;
  int r = hd_mutex_lock(p, pc, HD_OP_MUTEX_LOCK, NULL);
  if (r && r != EOWNERDEAD) return r;
  int was = (int)((uint32_t)m->lock >> CEILING_SHIFT);
  hd_shares(HD_SHARED_THREAD, (uint64_t)p, HD_CHANGES, pc);
  m->lock = (m->lock & LOCKED) | ceiling << CEILING_SHIFT;
  hd_mutex_unlock(p, pc);
  if (old) hd_to_program(old, &was, sizeof was);
  return 0;
}

HD_INTERPOSE(int, pthread_mutex_setprioceiling, (pthread_mutex_t *m, int ceiling, int *old), (m, ceiling, old)) {
  return set_ceiling(m, ceiling, old, HD_RA);
}

HD_INTERPOSE(int, pthread_mutex_getprioceiling, (const pthread_mutex_t *m, int *ceiling), (m, ceiling)) {
  hd_shares(HD_SHARED_THREAD, (uint64_t)m, HD_LOOKS_AT, HD_RA);
  return REAL(pthread_mutex_getprioceiling)(m, ceiling);
}

// ---- for the scheduler
//
// An object's memory may have been released. The thread is then enabled, and its own call faults
// or reports the misuse.
static bool lock_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || hd_mutex_free(u->pend.obj); }
static bool timedlock_enabled(const struct hd_thread *u) { return u->wait.timed_out || lock_enabled(u); }

uint32_t hd_mutex_owner(uint64_t m) { return hd_owner_at(m + offsetof(struct mutex, owner)); }
static uint32_t holder(const struct hd_thread *u, uint64_t *object) { return hd_mutex_owner(*object); }

static const struct hd_operation operations[] = {
  { .op = HD_OP_MUTEX_LOCK, .enabled = lock_enabled, .holder = holder, .async_cancel = true },
  { .op = HD_OP_MUTEX_TIMEDLOCK, .enabled = timedlock_enabled, .holder = holder, .async_cancel = true },
};

const struct hd_registration hd_mutexes = { HD_OPERATIONS(operations), .thread_ends = abandon_all };
