// blocking.c: scheduling of operations on descriptors. A thread that would block is not enabled;
// after every operation on a descriptor it is tested again.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include "core/cancellation.h"
#include "core/interrupts.h"
#include "core/outcome.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "io/blocking.h"
#include "io/descriptors.h"

// All such waits depend on this: another thread has operated on a descriptor.
static uint64_t event;
#define EVENT ((uint64_t)&event)

static void arm(struct hd_thread *t) {
  const struct hd_io_wait *w = t->wait.io;
  uint64_t at = w->until, timer = w->expires ? w->expires(w) : ~0ull;
  if (timer < at) at = timer;
  if (at != ~0ull) {
    struct hd_deadline d = { at };
    hd_timer(t, &d);
  } else if (t->wait.timed) {
    t->wait.timed = t->wait.timed_out = false;
    hd_del(&hd.timers, t->index);
  }
}

static bool cancellation_point(uint16_t op) {
  return op == HD_OP_FD_READ || op == HD_OP_FD_WRITE || op == HD_OP_FD_POLL || op == HD_OP_FD_CONNECT || op == HD_OP_FD_ACCEPT;
}

// ---- handlers
//
// While a handler runs, the call does not hold its description: a handler that does not
// return must not keep it open, and a restarted call looks up the number again, as in the
// kernel.
static void leave_call(struct hd_thread *t) {
  struct hd_io_wait *w = t->wait.io;
  t->wait.io = NULL;
  t->wait.begun = false;
  if (w && w->entered && w->file) hd_file_release(w->file);
  if (w) w->entered = false;
}

static bool blocks(const struct hd_io_wait *w) {
  if (w->file) return !w->file->nonblock;
  return !w->external || !(hd_sys(SYS_fcntl, w->fd, F_GETFL, 0) & O_NONBLOCK);
}

static void enter(struct hd_io_wait *w) {
  w->entered = false;
  w->entered = !w->ready(w);
  if (w->entered && w->file) hd_file_hold(w->file);
}

static void enter_again(struct hd_thread *t) {
  struct hd_io_wait *w = t->wait.io;
  if (!w) return;
  if (w->fd >= 0 && t->pend.op != HD_OP_FD_POLL) {
    w->file = hd_file_of(w->fd);
    w->external = !w->file && hd_is_external(w->fd);
    w->instant = !blocks(w);
  } else if (w->file) {
    w->file = hd_file_of(w->fd);
  }
  enter(w);
}

bool hd_io_interrupted(struct hd_thread *t) {
  if (HD_LIKELY(!t->wait.interrupted)) return false;
  hd_io_done(t, 0, EINTR);
  return true;
}

struct hd_thread *hd_io_point(uint16_t op, uint64_t pc, uint64_t obj, int fd, uint64_t size, struct hd_io_wait *w) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, obj);
  t->pend.aux = (uint64_t)(uint32_t)fd;
  t->pend.size = size > ~0u ? ~0u : (uint32_t)size;
  t->wait.io = w;
  t->wait.begun = w && w->begun;
  if (w) {
    enter(w);
    hd_block_on(t, EVENT, 0);
    t->wait.intr = w->intr;
    arm(t);
  }
  if (!cancellation_point(op)) {
    hd_point(t);
  } else if (hd_cancel_point(t)) {
    hd_io_done(t, 0, ECANCELED);
    if (t->signals.masked) t->signals.mask = t->signals.mask_back;
    t->signals.masked = false;
    hd_cancel_act(t);
  }
  return t;
}

long hd_io_done(struct hd_thread *t, uint64_t value, long err) {
  const struct hd_io_wait *w = t->wait.io;
  t->wait.io = NULL;
  t->wait.begun = false;
  if (w && w->entered && w->file) hd_file_release(w->file);
  if (!err && (t->pend.op != HD_OP_FD_POLL || value)) hd_progress(t); // a poll that found nothing is not progress
  uint64_t pc = t->pend.pc;
  hd_commit(t, value, (int32_t)err);
  hd_update(EVENT);
  if (err) hd_observe(t, pc, (uint64_t)err << 32 | value);
  return err ? -err : (long)value;
}

void hd_io_only_point(uint16_t op, uint64_t pc) { hd_io_done(hd_io_point(op, pc, 0, -1, 0, NULL), 0, 0); }

static const struct hd_thread *tested;
const struct hd_thread *hd_io_tested(void) { return tested ? tested : hd.cur; }

static bool ready(const struct hd_thread *u) {
  const struct hd_io_wait *w = u->wait.io;
  tested = u;
  bool now = u->wait.timed_out || w->instant || w->ready(w) || (w->glance && !hd_signal_due(u));
  tested = NULL;
  return now;
}

static struct hd_thread *waiter(uint32_t *at) {
  while (*at < hd.nthreads) {
    struct hd_thread *u = &hd_threads[(*at)++];
    if (!u->ended && u->wait.on == EVENT && u->wait.io) return u;
  }
  return NULL;
}

void hd_io_changed(void) { hd_update(EVENT); }

void hd_io_rearm(void) {
  struct hd_thread *u;
  for (uint32_t at = 0; (u = waiter(&at));)
    if (u != hd.cur && u->wait.io->expires && !u->wait.timed_out) arm(u);
}

// ---- other processes
bool hd_others_sent(void) {
  bool any = false;
  HD_EACH_MODULE(m) if (m->meanwhile) any |= m->meanwhile();
  return any;
}

enum { MOST_FDS = 256, SLICE = 50 };
static struct pollfd fds[MOST_FDS];

// Collects the descriptors of the kernel's for which t waits, or any thread if it is NULL, and is not enabled; returns their number.
static uint32_t awaited(const struct hd_thread *t, hd_say *say) {
  uint32_t n = 0;
  struct hd_thread *u;
  for (uint32_t at = 0; (u = waiter(&at));) {
    if ((t && u != t) || !u->wait.io->external || hd_has(&hd.enabled, u->index)) continue;
    uint32_t k = hd_io_kernel_fds(u->wait.io, fds + n, MOST_FDS - n);
    if (k && say) say("T%u waits for what another process does with fd %d", u->number, fds[n].fd);
    n += k;
  }
  return n;
}

// Waits at most ms for one of n descriptors, or for what another process sends.
static long poll_once(uint32_t n, long ms, bool *sent) {
  long r = hd_sys(SYS_poll, fds, n, ms);
  *sent = hd_others_sent(); // before what r says was written
  if (r > 0 || *sent) return r;
  if (HD_UNLIKELY(hd_cut_asked)) hd_cut(hd.cur->pend.pc, hd.cur->pend.obj);
  // The watchdog must not report a hang.
  __atomic_fetch_add(&hd_shm->heartbeat, 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&hd_shm->stop, __ATOMIC_ACQUIRE) || hd_sys(SYS_getppid, 0, 0, 0) != hd_controller) hd_sys(SYS_exit_group, 0, 0, 0);
  return r;
}

static bool external(void) {
  uint32_t n = awaited(NULL, NULL);
  if (!n) return false;
  hd.result.notes |= HD_NOTE_EXTERNAL;
  // Virtual time follows real time, up to the end of the program's next wait.
  uint64_t left = ~0ull;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      struct hd_thread *v = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      uint64_t d = v->wait.deadline > hd.vtime ? (v->wait.deadline - hd.vtime + 999999) / 1000000 : 0;
      if (d < left) left = d;
    }
  for (long slice = 1;; slice = slice < SLICE / 2 ? slice * 2 : SLICE) {
    if (left < (uint64_t)slice) slice = (long)left;
    bool sent;
    long r = poll_once(n, slice, &sent);
    if (sent) return true;
    if (r > 0) break;
    if (left != ~0ull && (left -= (uint64_t)slice) == 0) return false;
  }
  hd_update(EVENT);
  struct hd_thread *u;
  for (uint32_t at = 0; (u = waiter(&at));)
    if (hd_has(&hd.enabled, u->index)) return true;
  return false;
}

// ---- beside enabled threads
static bool outside(const struct hd_thread *t, hd_say *say) { return awaited(t, say) != 0; }

static bool outside_acts(long ns) {
  uint32_t n = awaited(NULL, NULL);
  hd.result.notes |= HD_NOTE_EXTERNAL;
  for (long left = (ns + 999999) / 1000000, slice = 1; n; left -= slice, slice = slice < SLICE / 2 ? slice * 2 : SLICE) {
    if (left < slice) slice = left;
    bool sent;
    long r = poll_once(n, slice, &sent);
    if (sent) return true;
    if (r > 0) {
      hd_update(EVENT);
      return awaited(NULL, NULL) < n;
    }
    if (left <= slice) break;
  }
  return false;
}

// ---- for the scheduler
static void describe(const struct hd_thread *u, hd_say *say) {
  static const char *const kinds[] = { "file", "pipe", "socket", "eventfd", "timerfd", "epoll", "file", "descriptor", [HD_FD_SIGNALFD] = "signalfd", "pidfd" };
  const struct hd_io_wait *w = u->wait.io;
  const char *kind = w->file ? kinds[w->file->kind] : "descriptor";
  int fd = (int)u->pend.aux;
  switch (u->pend.op) {
  case HD_OP_FD_READ: say("T%u reads from %s fd %d", u->number, kind, fd); break;
  case HD_OP_FD_WRITE: say("T%u writes to %s fd %d", u->number, kind, fd); break;
  case HD_OP_FD_ACCEPT: say("T%u accepts on socket fd %d", u->number, fd); break;
  case HD_OP_FD_CONNECT: say("T%u connects socket fd %d", u->number, fd); break;
  default:
    if (w->file) say("T%u waits on %s fd %d", u->number, kind, fd);
    else hd_poll_say(w, u->number, say);
  }
}

#define BLOCKING(o) { .op = o, .enabled = ready, .describe = describe, .leave = leave_call, .enter = enter_again }
static const struct hd_operation operations[] = {
  BLOCKING(HD_OP_FD_READ), BLOCKING(HD_OP_FD_WRITE), BLOCKING(HD_OP_FD_POLL), BLOCKING(HD_OP_FD_CONNECT), BLOCKING(HD_OP_FD_ACCEPT),
};

const struct hd_registration hd_io = { HD_OPERATIONS(operations), .external = external, .outside = outside, .outside_acts = outside_acts };
