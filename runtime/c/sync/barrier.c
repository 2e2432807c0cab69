// barrier.c: barriers, in glibc's fields: arrivals (0), round (4), count (8); the word at 20 marks
// a destroyed one. Arriving and leaving are two events; the last arrival releases all threads.
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

HD_INTERPOSE(int, pthread_barrier_init, (pthread_barrier_t *p, const pthread_barrierattr_t *a, unsigned count), (p, a, count)) {
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

HD_INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t *p), (p)) {
  struct barrier *b = usable(p, HD_RA);
  if (hd_omits(HD_RA)) return 0;
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
      if (u != t && hd_can_wake(u, HD_OP_BARRIER_LEAVE, (uint64_t)b, &arrival)) hd_wake(u);
    }
    hd_update((uint64_t)b);
  } else {
    t->wait.woken = false;
    hd_block_on(t, (uint64_t)b, 0);
  }
  hd_point(t);
  hd_commit(t, 0, last ? PTHREAD_BARRIER_SERIAL_THREAD : 0);
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

HD_INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t *p), (p)) {
  struct barrier *b = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_BARRIER_DESTROY, HD_RA, (uint64_t)p);
  usable(b, HD_RA);
  if (b->in) hd_misuse(HD_RA, (uint64_t)b, "destroy of a barrier that threads wait at");
  b->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

// ---- for the scheduler
static bool leave_enabled(const struct hd_thread *u) { return u->wait.woken; }

static const struct hd_operation operations[] = { { .op = HD_OP_BARRIER_LEAVE, .enabled = leave_enabled } };

const struct hd_registration hd_barriers = { HD_OPERATIONS(operations) };
