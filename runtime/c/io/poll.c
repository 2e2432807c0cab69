// poll.c: poll and select. A descriptor set is tested when the thread is scheduled.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>
#include <stdlib.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "time/time.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/socket.h"

struct set { struct pollfd *fds; uint32_t n; };

short (*hd_pidfd_mask)(const struct hd_file *f);

static short file_mask(struct hd_file *f) {
  int mask = 0;
  switch (f->kind) {
  case HD_FD_PIPE:
    if (f->in) mask |= (f->in->len ? POLLIN : 0) | (f->in->writer ? 0 : POLLHUP);
    if (f->out) mask |= (hd_room(f->out) >= 4096 ? POLLOUT : 0) | (f->out->reader ? 0 : POLLERR);
    break;
  case HD_FD_SOCKET: return hd_sock_mask(f);
  case HD_FD_EVENTFD: return (short)((f->count ? POLLIN : 0) | (f->count < ~0ull - 1 ? POLLOUT : 0));
  case HD_FD_TIMERFD: return hd_timerfd_count(f) ? POLLIN : 0;
  case HD_FD_PIDFD: return hd_pidfd_mask(f);
  case HD_FD_SIGNALFD: return hd_signalfd_ready(f) ? POLLIN : 0;
  case HD_FD_EPOLL: return hd_epoll_mask(f);
  }
  if (mask & POLLIN) mask |= POLLRDNORM;
  if (mask & POLLOUT) mask |= POLLWRNORM;
  return (short)mask;
}

uint64_t hd_file_expires(struct hd_file *f) {
  if (f->kind == HD_FD_EPOLL) return hd_epoll_expires(f);
  return f->kind == HD_FD_TIMERFD && f->expires ? f->expires : ~0ull;
}

short hd_fd_mask(int fd, struct hd_file *f, short events) {
  if (f) return file_mask(f) & (short)(events | POLLERR | POLLHUP);
  if (hd_reserved_fd(fd)) return POLLNVAL;
  struct pollfd p = { .fd = fd, .events = events };
  return hd_sys(SYS_poll, &p, 1, 0) < 0 ? POLLNVAL : p.revents;
}

static bool ready(const struct hd_io_wait *w) {
  struct set *s = w->arg;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->fds[i].fd >= 0 && hd_fd_mask(s->fds[i].fd, hd_file_of(s->fds[i].fd), s->fds[i].events)) return true;
  return false;
}

static uint64_t expires(const struct hd_io_wait *w) {
  struct set *s = w->arg;
  uint64_t first = ~0ull;
  for (uint32_t i = 0; i < s->n; i++) {
    struct hd_file *f = s->fds[i].fd >= 0 && s->fds[i].events & POLLIN ? hd_file_of(s->fds[i].fd) : NULL;
    uint64_t at = f ? hd_file_expires(f) : ~0ull;
    if (at < first) first = at;
  }
  return first;
}

uint32_t hd_io_kernel_fds(const struct hd_io_wait *w, struct pollfd *out, uint32_t max) {
  if (w->ready != ready) {
    if (!max) return 0;
    *out = (struct pollfd){ .fd = w->fd, .events = w->write ? POLLOUT : POLLIN };
    return 1;
  }
  struct set *s = w->arg;
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n && n < max; i++)
    if (s->fds[i].fd >= 0 && !hd_file_of(s->fds[i].fd)) out[n++] = (struct pollfd){ .fd = s->fds[i].fd, .events = s->fds[i].events };
  return n;
}

void hd_poll_say(const struct hd_io_wait *w, uint32_t thread, hd_say *say) {
  struct set *s = w->arg;
  if (w->ready != ready) return;
  say("T%u polls", thread);
  for (uint32_t i = 0; i < s->n && i < 8; i++) say(i ? ", fd %d" : " fd %d", s->fds[i].fd);
  if (s->n > 8) say(", …");
  if (!s->n) say(" nothing");
}

// Returns the number of descriptors with revents. ns ~0: forever.
static long look(struct set *s, uint64_t ns, uint64_t pc) {
  bool external = false;
  for (uint32_t i = 0; i < s->n; i++) external |= s->fds[i].fd >= 0 && !hd_file_of(s->fds[i].fd) && hd_is_external(s->fds[i].fd);
  uint64_t until = !ns || ns == ~0ull ? ~0ull : hd_after(ns);
  struct hd_io_wait w = { .ready = ready, .expires = ns ? expires : NULL, .fd = -1, .until = until, .external = external && ns, .intr = HD_INTR_ALWAYS, .glance = !ns, .arg = s };
  for (;;) {
    struct hd_thread *t = hd_io_point(HD_OP_FD_POLL, pc, 0, s->n ? s->fds[0].fd : -1, s->n, &w);
    if (hd_io_interrupted(t)) {
      for (uint32_t i = 0; i < s->n; i++) s->fds[i].revents = 0;
      return -EINTR;
    }
    bool late = hd.vtime >= until;
    long n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
      int fd = s->fds[i].fd;
      struct hd_file *f = fd >= 0 ? hd_file_of(fd) : NULL;
      s->fds[i].revents = fd >= 0 ? hd_fd_mask(fd, f, s->fds[i].events) : 0;
      if (s->fds[i].revents && !n++) {
        t->pend.obj = f ? f->in ? f->in->id : f->id : hd_kernel_object(fd);
        t->pend.aux = (uint64_t)(uint32_t)fd;
      }
    }
    hd_io_done(t, (uint64_t)n, 0);
    if (!n) hd_observe(t, pc, 0);
    if (n || !ns || late) {
      if (external) hd_others_sent();
      hd_kernel_exit(pc);
      return n;
    }
  }
}

// A time-out without descriptors is a sleep; with a signal mask of its own it is a wait.
static long doze(uint64_t ns, uint64_t pc) {
  struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
  if (ns) return -hd_sleep(&ts, NULL, pc);
  hd_kernel_exit(pc);
  return 0;
}

static long do_poll(struct pollfd *fds, nfds_t n, uint64_t ns, uint64_t pc) {
  enum { MOST = 1024 };
  hd.cur->pend.pc = pc;
  if (n > MOST) hd_unsupported("poll of more than 1024 descriptors");
  if (!n && ns != ~0ull && !hd.cur->signals.masked) return doze(ns, pc);
  struct pollfd *copy = __builtin_alloca(n * sizeof *copy);
  hd_from_program(copy, fds, n * sizeof *copy);
  struct set s = { copy, (uint32_t)n };
  long r = look(&s, ns, pc);
  hd_to_program(fds, copy, n * sizeof *copy);
  return r;
}

static long do_select(int n, fd_set *in, fd_set *out, fd_set *except, uint64_t ns, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (n < 0 || n > FD_SETSIZE) return -EINVAL;
  fd_set *sets[3] = { in, out, except }, want[3];
  static const short bits[3] = { POLLIN, POLLOUT, POLLPRI };
  struct pollfd fds[FD_SETSIZE];
  struct set s = { fds, 0 };
  uint64_t bytes = ((uint64_t)n + 63) / 64 * 8;
  hd_fill(want, 0, sizeof want);
  for (int k = 0; k < 3; k++)
    if (sets[k]) hd_from_program(&want[k], sets[k], bytes);
  for (int fd = 0; fd < n; fd++) {
    short events = 0;
    for (int k = 0; k < 3; k++)
      if (FD_ISSET(fd, &want[k])) events |= bits[k];
    if (events) fds[s.n++] = (struct pollfd){ .fd = fd, .events = events };
  }
  long r = !s.n && ns != ~0ull && !hd.cur->signals.masked ? doze(ns, pc) : look(&s, ns, pc);
  if (r < 0) return r;
  long count = 0;
  hd_fill(want, 0, sizeof want);
  for (uint32_t i = 0; i < s.n; i++) {
    short got = fds[i].revents, asked = fds[i].events;
    if (got & POLLNVAL) return -EBADF;
    if (asked & POLLIN && got & (POLLIN | POLLHUP | POLLERR)) { FD_SET(fds[i].fd, &want[0]); count++; }
    if (asked & POLLOUT && got & (POLLOUT | POLLERR)) { FD_SET(fds[i].fd, &want[1]); count++; }
    if (asked & POLLPRI && got & POLLPRI) { FD_SET(fds[i].fd, &want[2]); count++; }
  }
  for (int k = 0; k < 3; k++)
    if (sets[k]) hd_to_program(sets[k], &want[k], bytes);
  return count;
}

uint64_t hd_ns_of(const struct timespec *ts) {
  struct timespec t;
  if (!ts) return ~0ull;
  hd_from_program(&t, ts, sizeof t);
  if (t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= 1000000000) return HD_BAD_NS;
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

HD_INTERPOSE(int, poll, (struct pollfd *fds, nfds_t n, int ms), (fds, n, ms)) {
  return (int)hd_errno_result(do_poll(fds, n, ms < 0 ? ~0ull : (uint64_t)ms * 1000000, HD_RA));
}
HD_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size) {
  if (size / sizeof *fds < n) abort();
  if (!hd_active()) return REAL(poll)(fds, n, ms);
  return (int)hd_errno_result(do_poll(fds, n, ms < 0 ? ~0ull : (uint64_t)ms * 1000000, HD_RA));
}
static int masked_poll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask, uint64_t pc) {
  hd.cur->pend.pc = pc;
  uint64_t ns = hd_ns_of(ts);
  if (ns == HD_BAD_NS) return (int)hd_errno_result(-EINVAL);
  hd_mask_for_call(mask, pc);
  long r = do_poll(fds, n, ns, pc);
  hd_mask_back(pc);
  return (int)hd_errno_result(r);
}
HD_INTERPOSE(int, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask), (fds, n, ts, mask)) {
  return masked_poll(fds, n, ts, mask, HD_RA);
}
HD_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask, size_t size) {
  if (size / sizeof *fds < n) abort();
  return hd_active() ? masked_poll(fds, n, ts, mask, HD_RA) : REAL(ppoll)(fds, n, ts, mask);
}
HD_INTERPOSE(int, select, (int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *tv), (n, in, out, except, tv)) {
  uint64_t ns = ~0ull, began = hd.vtime;
  if (tv) {
    struct timeval t;
    hd.cur->pend.pc = HD_RA;
    hd_from_program(&t, tv, sizeof t);
    if (t.tv_sec < 0 || t.tv_usec < 0) return (int)hd_errno_result(-EINVAL);
    ns = (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_usec * 1000;
  }
  long r = do_select(n, in, out, except, ns, HD_RA);
  if (tv && (r >= 0 || r == -EINTR)) { // Linux stores the remaining time
    uint64_t gone = hd.vtime - began, left = gone < ns ? ns - gone : 0;
    struct timeval t = { (time_t)(left / 1000000000), (suseconds_t)(left % 1000000000 / 1000) };
    hd_to_program(tv, &t, sizeof t);
  }
  return (int)hd_errno_result(r);
}
HD_INTERPOSE(int, pselect, (int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *ts, const sigset_t *mask), (n, in, out, except, ts, mask)) {
  hd.cur->pend.pc = HD_RA;
  uint64_t ns = hd_ns_of(ts);
  if (ns == HD_BAD_NS) return (int)hd_errno_result(-EINVAL);
  hd_mask_for_call(mask, HD_RA);
  long r = do_select(n, in, out, except, ns, HD_RA);
  hd_mask_back(HD_RA);
  return (int)hd_errno_result(r);
}
