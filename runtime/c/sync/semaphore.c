// semaphore.c: semaphores; named ones are opened in named_semaphore.c. The count is where glibc
// keeps it (first word); a word that glibc does not use marks a destroyed or closed semaphore.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include "core/cancellation.h"
#include "core/injection.h"
#include "core/libc.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "memory/access.h"
#include "sync/sync.h"

enum { DESTROYED = 0x44454144, CLOSED = 0x434c4f53 };
struct sem { uint32_t value, waiters; int shared; uint32_t pad, destroyed; };

static HD_PROGACCESS uint32_t mark_of(struct sem *s) { return s->destroyed; }

static struct sem *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(p, pc);
  hd_refresh(p, sizeof(struct sem), pc);
  if (mark_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed semaphore");
  if (mark_of(p) == CLOSED) hd_misuse(pc, (uint64_t)p, "use of a semaphore after its last sem_close");
  return p;
}

void hd_sem_closed(sem_t *s, bool closed) { ((struct sem *)s)->destroyed = closed ? CLOSED : 0; }

static int wait(void *p, uint64_t pc, uint16_t op, const struct hd_deadline *until) {
  struct sem *s = usable(p, pc);
  if (hd_omits_lock(pc, s, 0)) return 0;
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, (uint64_t)s);
  if (op != HD_OP_SEM_TRYWAIT) {
    hd_block_on(t, (uint64_t)s, 0);
    t->wait.intr = HD_INTR_RESTART;
  }
  if (until) hd_timer(t, until);
  if (op == HD_OP_SEM_TRYWAIT) hd_point(t);
  else hd_point_cancel(t);
  usable(s, pc);
  if (!s->value || t->wait.interrupted) {
    int err = op == HD_OP_SEM_TRYWAIT ? EAGAIN : t->wait.interrupted ? EINTR : ETIMEDOUT;
    hd_commit(t, 0, err);
    if (op == HD_OP_SEM_TRYWAIT) hd_observe(t, pc, 0);
    if (err == ETIMEDOUT) hd_timed_out(t, pc);
    errno = err;
    return -1;
  }
  s->value--;
  hd_progress(t);
  hd_commit(t, s->value, 0);
  hd_update((uint64_t)s);
  return 0;
}

HD_INTERPOSE(int, sem_wait, (sem_t *s), (s)) { return wait(s, HD_RA, HD_OP_SEM_WAIT, NULL); }
HD_INTERPOSE(int, sem_trywait, (sem_t *s), (s)) { return wait(s, HD_RA, HD_OP_SEM_TRYWAIT, NULL); }

static int timed(sem_t *s, int clock, const struct timespec *abs, uint64_t pc) {
  struct hd_deadline d;
  if (!hd_deadline(&d, clock, abs)) { errno = EINVAL; return -1; }
  return wait(s, pc, HD_OP_SEM_TIMEDWAIT, &d);
}
HD_INTERPOSE(int, sem_timedwait, (sem_t *s, const struct timespec *abs), (s, abs)) { return timed(s, CLOCK_REALTIME, abs, HD_RA); }
HD_INTERPOSE(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *abs), (s, clock, abs)) {
  return timed(s, clock, abs, HD_RA);
}

HD_INTERPOSE(int, sem_post, (sem_t *p), (p)) {
  struct sem *s = usable(p, HD_RA);
  if (hd_omits(HD_RA) || hd_omits_owed(s, 0)) return 0;
  struct hd_thread *t = hd_op(HD_OP_SEM_POST, HD_RA, (uint64_t)p);
  usable(s, HD_RA);
  if (s->value == SEM_VALUE_MAX) { hd_commit(t, s->value, EOVERFLOW); errno = EOVERFLOW; return -1; }
  s->value++;
  hd_progress(t);
  hd_commit(t, s->value, 0);
  hd_update((uint64_t)s);
  return 0;
}

HD_INTERPOSE(int, sem_getvalue, (sem_t *p, int *value), (p, value)) {
  struct sem *s = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_SEM_GETVALUE, HD_RA, (uint64_t)p);
  usable(s, HD_RA);
  int v = (int)s->value;
  hd_commit(t, (uint64_t)v, 0);
  hd_observe(t, HD_RA, (uint64_t)v);
  hd_inject_call();
  hd_access_range(value, sizeof *value, true, HD_RA);
  hd_to_program(value, &v, sizeof v);
  hd_inject_called();
  return 0;
}

HD_INTERPOSE(int, sem_init, (sem_t *p, int shared, unsigned value), (p, shared, value)) {
  hd_refresh(p, sizeof *p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_SEM_INIT, HD_RA, (uint64_t)p);
  int r = REAL(sem_init)(p, shared, value);
  if (r == 0) ((struct sem *)p)->destroyed = 0;
  hd_commit(t, value, r);
  return r;
}

HD_INTERPOSE(int, sem_destroy, (sem_t *p), (p)) {
  struct sem *s = usable(p, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_SEM_DESTROY, HD_RA, (uint64_t)p);
  usable(s, HD_RA);
  if (!s->value && (hd_waited_for((uint64_t)s, t, HD_OP_SEM_WAIT) || hd_waited_for((uint64_t)s, t, HD_OP_SEM_TIMEDWAIT)))
    hd_misuse(HD_RA, (uint64_t)s, "destroy of a semaphore that a thread waits on");
  s->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

// ---- for the scheduler
static bool wait_enabled(const struct hd_thread *u) { return hd_freed(u->pend.obj) || hd_word_or(u->pend.obj, 1) != 0; }
static bool timedwait_enabled(const struct hd_thread *u) { return u->wait.timed_out || wait_enabled(u); }

static const struct hd_operation operations[] = {
  { .op = HD_OP_SEM_WAIT, .enabled = wait_enabled },
  { .op = HD_OP_SEM_TIMEDWAIT, .enabled = timedwait_enabled },
};

const struct hd_registration hd_semaphores = { HD_OPERATIONS(operations) };
