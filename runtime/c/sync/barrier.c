// barrier.c: barriers, in glibc's fields: arrivals (0), round (4), count (8); a mark for a
// destroyed one at 20. Arriving and leaving are two events; the last arrival lets all go.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/rt.h"
#include "sync/sync.h"

enum { DESTROYED = 0x44454144 };
struct barrier { uint32_t in, round, count; int shared; uint32_t out, destroyed; };

static HD_PROGACCESS uint32_t mark_of(struct barrier *b) { return b->destroyed; }

static struct barrier *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(p, pc);
  hd_refresh(p, sizeof(struct barrier), pc);
  if (mark_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed barrier");
  return p;
}

HD_EXPORT int pthread_barrier_init(pthread_barrier_t *p, const pthread_barrierattr_t *a, unsigned count) {
  if (!hd_active()) return REAL(pthread_barrier_init)(p, a, count);
  hd_refresh(p, sizeof *p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_BARRIER_INIT, HD_RA, (uint64_t)p);
  int r = REAL(pthread_barrier_init)(p, a, count);
  if (r == 0) {
    struct barrier *b = (struct barrier *)p;
    b->in = b->round = b->out = b->destroyed = 0;
    b->count = count;
  }
  hd_commit(t, count, r);
  return r;
}

HD_EXPORT int pthread_barrier_wait(pthread_barrier_t *p) {
  if (!hd_active()) return REAL(pthread_barrier_wait)(p);
  struct barrier *b = usable(p, HD_RA);
  if (hd_skip(HD_RA)) return 0;
  struct hd_thread *t = hd_op(HD_OP_BARRIER_WAIT, HD_RA, (uint64_t)p);
  usable(b, HD_RA);
  bool last = ++b->in >= b->count;
  hd_progress(t);
  hd_commit(t, b->in, 0);
  hd_pend(t, HD_OP_BARRIER_LEAVE, HD_RA, (uint64_t)b);
  if (last) {
    b->in = 0;
    b->round++;
    for (uint32_t i = 0; i < hd.nthreads; i++) {
      struct hd_thread *u = &hd_threads[i];
      uint64_t arrival;
      if (u != t && hd_waits(u, HD_OP_BARRIER_LEAVE, (uint64_t)b, &arrival)) hd_grant(u);
    }
    hd_update((uint64_t)b);
  } else {
    t->granted = false;
    hd_need(t, (uint64_t)b, 0);
  }
  hd_point(t);
  hd_commit(t, 0, last ? PTHREAD_BARRIER_SERIAL_THREAD : 0);
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

HD_EXPORT int pthread_barrier_destroy(pthread_barrier_t *p) {
  if (!hd_active()) return REAL(pthread_barrier_destroy)(p);
  struct barrier *b = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_BARRIER_DESTROY, HD_RA, (uint64_t)p);
  usable(b, HD_RA);
  if (b->in) hd_misuse(HD_RA, (uint64_t)b, "destroy of a barrier that threads wait at");
  b->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}
