// rwlock.c: reader-writer locks. Fields of our own in the object: readers (0), a mark for a
// destroyed one (4), writer's thread index + 1 (8). All zero is unlocked, as for glibc.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "rt.h"
#include "sync.h"

enum { DESTROYED = 0x44454144 };
struct rwlock { uint32_t readers, destroyed, writer; };

static HD_PROGACCESS uint32_t mark_of(struct rwlock *l) { return l->destroyed; }

static struct rwlock *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(p, pc);
  hd_refresh(p, sizeof(struct rwlock), pc);
  if (mark_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed reader-writer lock");
  return p;
}

static int lock(void *p, uint64_t pc, uint16_t op, bool write, bool try) {
  struct rwlock *l = usable(p, pc);
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, (uint64_t)l);
  if (l->writer == t->index + 1) {
    hd_point(t);
    int err = try ? EBUSY : EDEADLK;
    hd_commit(t, 0, err);
    return err;
  }
  if (!try) hd_need(t, (uint64_t)l, 0);
  hd_point(t);
  usable(l, pc);
  if (l->writer || (write && l->readers)) {
    hd_commit(t, 0, EBUSY);
    hd_observe(t, pc, 1);
    return EBUSY;
  }
  if (write) l->writer = t->index + 1;
  else l->readers++;
  hd_commit(t, 0, 0);
  hd_update((uint64_t)l);
  return 0;
}

HD_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
  return hd_active() ? lock(l, HD_RA, HD_OP_RWLOCK_RDLOCK, false, false) : REAL(pthread_rwlock_rdlock)(l);
}
HD_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
  return hd_active() ? lock(l, HD_RA, HD_OP_RWLOCK_WRLOCK, true, false) : REAL(pthread_rwlock_wrlock)(l);
}
HD_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
  return hd_active() ? lock(l, HD_RA, HD_OP_RWLOCK_TRYRDLOCK, false, true) : REAL(pthread_rwlock_tryrdlock)(l);
}
HD_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
  return hd_active() ? lock(l, HD_RA, HD_OP_RWLOCK_TRYWRLOCK, true, true) : REAL(pthread_rwlock_trywrlock)(l);
}

HD_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *p) {
  if (!hd_active()) return REAL(pthread_rwlock_unlock)(p);
  struct rwlock *l = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_UNLOCK, HD_RA, (uint64_t)p);
  usable(l, HD_RA);
  if (l->writer == t->index + 1) l->writer = 0;
  else if (!l->writer && l->readers) l->readers--;
  else hd_misuse(HD_RA, (uint64_t)l, "unlock of a reader-writer lock that is not held");
  hd_commit(t, 0, 0);
  hd_update((uint64_t)l);
  return 0;
}

HD_EXPORT int pthread_rwlock_init(pthread_rwlock_t *p, const pthread_rwlockattr_t *a) {
  if (!hd_active()) return REAL(pthread_rwlock_init)(p, a);
  hd_refresh(p, sizeof *p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_INIT, HD_RA, (uint64_t)p);
  int r = REAL(pthread_rwlock_init)(p, a);
  hd_fill(p, 0, sizeof(struct rwlock));
  hd_commit(t, 0, r);
  return r;
}

HD_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *p) {
  if (!hd_active()) return REAL(pthread_rwlock_destroy)(p);
  struct rwlock *l = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_RWLOCK_DESTROY, HD_RA, (uint64_t)p);
  usable(l, HD_RA);
  if (l->writer || l->readers) hd_misuse(HD_RA, (uint64_t)l, "destroy of a locked reader-writer lock");
  l->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}
