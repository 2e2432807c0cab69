// mutex.c: mutexes of all types. Their state is in the program's own object, in glibc's
// fields, so that static initialisers work, a debugger shows it, and putting memory back
// puts it back: lock (int at 0), recursion count (4), owner (8, thread index + 1), kind (16).
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "rt.h"
#include "sync.h"

struct mutex { int lock; uint32_t count; uint32_t owner; uint32_t users; int kind; };
enum { DESTROYED = -1, ROBUST = 16, PROTOCOL = 32 | 64, SHARED = 128 };

// Reads the object through the program's pointer: a bad pointer is the program's fault.
static HD_PROGACCESS int kind_of(struct mutex *m) { return m->kind; }

static struct mutex *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc; // where a fault in the next line is reported
  hd_check_live(p, pc);
  int kind = kind_of(p);
  if (kind == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed mutex");
  if (kind & PROTOCOL) hd_unsupported("a mutex with a priority protocol");
  if (kind & ROBUST) hd_unsupported("a robust mutex");
  return p;
}

static int type_of(const struct mutex *m) { return m->kind & 3; }

HD_PROGACCESS bool hd_mutex_free(uint64_t m) { return ((struct mutex *)m)->lock == 0; }
HD_PROGACCESS bool hd_mutex_held(uint64_t m, const struct hd_thread *t) {
  return ((struct mutex *)m)->lock != 0 && ((struct mutex *)m)->owner == t->index + 1;
}

HD_PROGACCESS uint32_t hd_mutex_release_all(uint64_t p) {
  struct mutex *m = (struct mutex *)p;
  uint32_t count = m->count;
  m->lock = 0;
  m->owner = 0;
  m->count = 0;
  return count;
}

HD_PROGACCESS void hd_mutex_take(uint64_t p, const struct hd_thread *t, uint32_t count) {
  struct mutex *m = (struct mutex *)p;
  m->lock = 1;
  m->owner = t->index + 1;
  m->count = count;
}

static int lock(void *p, uint64_t pc, uint16_t op, const struct hd_deadline *until) {
  struct mutex *m = usable(p, pc);
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, (uint64_t)m);
  bool own = hd_mutex_held((uint64_t)m, t);
  if (!own || type_of(m) == PTHREAD_MUTEX_NORMAL || type_of(m) == PTHREAD_MUTEX_ADAPTIVE_NP) {
    hd_need(t, (uint64_t)m, 0);
    if (until) hd_timer(t, until);
  }
  hd_point(t);
  usable(m, pc); // destroyed while we waited
  if (own && type_of(m) == PTHREAD_MUTEX_ERRORCHECK) { hd_commit(t, 0, EDEADLK); return EDEADLK; }
  if (own && type_of(m) == PTHREAD_MUTEX_RECURSIVE) {
    m->count++;
    hd_commit(t, 0, 0);
    return 0;
  }
  if (m->lock) { // only a time-out gets here
    hd_commit(t, 0, ETIMEDOUT);
    return ETIMEDOUT;
  }
  hd_mutex_take((uint64_t)m, t, type_of(m) == PTHREAD_MUTEX_RECURSIVE);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)m);
  return 0;
}

HD_EXPORT int pthread_mutex_lock(pthread_mutex_t *m) {
  return hd_active() ? lock(m, HD_RA, HD_OP_MUTEX_LOCK, NULL) : REAL(pthread_mutex_lock)(m);
}

HD_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *abs) {
  if (!hd_active()) return REAL(pthread_mutex_timedlock)(m, abs);
  struct hd_deadline d;
  if (!hd_deadline(&d, CLOCK_REALTIME, abs)) return EINVAL;
  return lock(m, HD_RA, HD_OP_MUTEX_TIMEDLOCK, &d);
}

HD_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *abs) {
  if (!hd_active()) return REAL(pthread_mutex_clocklock)(m, clock, abs);
  struct hd_deadline d;
  if (!hd_deadline(&d, clock, abs)) return EINVAL;
  return lock(m, HD_RA, HD_OP_MUTEX_TIMEDLOCK, &d);
}

HD_EXPORT int pthread_mutex_trylock(pthread_mutex_t *p) {
  if (!hd_active()) return REAL(pthread_mutex_trylock)(p);
  struct mutex *m = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_TRYLOCK, HD_RA, (uint64_t)p);
  usable(m, HD_RA);
  int r = 0;
  if (!m->lock) hd_mutex_take((uint64_t)m, t, type_of(m) == PTHREAD_MUTEX_RECURSIVE);
  else if (hd_mutex_held((uint64_t)m, t) && type_of(m) == PTHREAD_MUTEX_RECURSIVE) m->count++;
  else r = EBUSY;
  hd_commit(t, 0, r);
  if (!r) hd_update((uint64_t)m);
  hd_observe(t, HD_RA, (uint64_t)r | m->owner);
  return r;
}

HD_EXPORT int pthread_mutex_unlock(pthread_mutex_t *p) {
  if (!hd_active()) return REAL(pthread_mutex_unlock)(p);
  struct mutex *m = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_UNLOCK, HD_RA, (uint64_t)p);
  usable(m, HD_RA);
  if (!hd_mutex_held((uint64_t)m, t)) {
    if (type_of(m) == PTHREAD_MUTEX_ERRORCHECK || type_of(m) == PTHREAD_MUTEX_RECURSIVE) {
      hd_commit(t, 0, EPERM); // these types promise an error
      return EPERM;
    }
    hd_misuse(HD_RA, (uint64_t)m, m->lock ? "unlock of a mutex that another thread holds" : "unlock of a mutex that is not held");
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

HD_EXPORT int pthread_mutex_init(pthread_mutex_t *p, const pthread_mutexattr_t *a) {
  if (!hd_active()) return REAL(pthread_mutex_init)(p, a);
  hd_refresh(p, sizeof *p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_INIT, HD_RA, (uint64_t)p);
  int r = REAL(pthread_mutex_init)(p, a);
  hd_commit(t, 0, r);
  return r;
}

HD_EXPORT int pthread_mutex_destroy(pthread_mutex_t *p) {
  if (!hd_active()) return REAL(pthread_mutex_destroy)(p);
  struct mutex *m = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_MUTEX_DESTROY, HD_RA, (uint64_t)p);
  usable(m, HD_RA);
  if (m->lock) hd_misuse(HD_RA, (uint64_t)m, "destroy of a locked mutex");
  if (hd_waited_for((uint64_t)m, t, HD_OP_COND_WAKE)) hd_misuse(HD_RA, (uint64_t)m, "destroy of a mutex that a condition wait will lock again");
  m->kind = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}
