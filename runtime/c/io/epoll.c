// epoll.c: epoll sets. A level-triggered watch reports whenever it is ready; an edge-triggered one
// when it became ready, or was added ready, since its last report. Watches report in turn, starting
// after the last one that did.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "io/blocking.h"
#include "io/descriptors.h"

// The events for which the arrival of data, and of space, is an edge.
enum { IN = EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDBAND, OUT = EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND };

// The first expiration of a timer since it was read is an edge, and so is each signal, and the end of a process.
static uint64_t in_seq(const struct hd_file *f) {
  if (f->kind == HD_FD_SIGNALFD) return f->in_seq + hd_signalfd_edges(f);
  if (f->kind == HD_FD_PIDFD) return hd_pidfd_mask(f) != 0;
  return f->in_seq + (f->kind == HD_FD_TIMERFD && hd_timerfd_count(f));
}

static uint32_t told(const struct hd_watch *w) {
  if (!(w->events & ~(uint32_t)(EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP))) return 0; // one shot, fired
  uint32_t now = (uint16_t)hd_fd_mask(w->fd, w->file, (short)(w->events & 0x3fff)) & w->events;
  if (!(w->events & EPOLLET) || w->fresh || !w->file) return now;
  bool news = w->file->end_seq != w->end_seen || (w->events & IN && in_seq(w->file) != w->in_seen) || (w->events & OUT && w->file->out_seq != w->out_seen);
  return news ? now : 0;
}

short hd_epoll_mask(struct hd_file *f) {
  static int depth;
  short mask = 0;
  if (depth == 5) return 0; // sets in sets: the kernel allows no more
  depth++;
  for (uint32_t i = 0; i < f->nwatches && !mask; i++)
    if (told(&f->watches[i])) mask = POLLIN | POLLRDNORM;
  depth--;
  return mask;
}

uint64_t hd_epoll_expires(struct hd_file *f) {
  static int depth;
  uint64_t first = ~0ull;
  if (depth == 5) return first;
  depth++;
  for (uint32_t i = 0; i < f->nwatches; i++) {
    struct hd_file *g = f->watches[i].file;
    uint64_t at = g && f->watches[i].events & EPOLLIN ? hd_file_expires(g) : ~0ull;
    if (at > hd.vtime && at < first) first = at; // else it is ready, or has been reported
  }
  depth--;
  return first;
}

static void drop(struct hd_file *f, uint32_t i) {
  f->nwatches--;
  for (; i < f->nwatches; i++) f->watches[i] = f->watches[i + 1];
}

void hd_epoll_forget(struct hd_file *gone, int fd) {
  struct hd_file *f;
  for (uint32_t at = 0; (f = hd_files_each(&at));)
    if (f->kind == HD_FD_EPOLL)
      for (uint32_t i = f->nwatches; i--;)
        if (gone ? f->watches[i].file == gone : !f->watches[i].file && f->watches[i].fd == fd) drop(f, i);
}

static long create(int flags, uint64_t pc) {
  if (flags & ~EPOLL_CLOEXEC) return -EINVAL;
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *f = hd_file_new(HD_FD_EPOLL);
  long fd = hd_fd_new(f, flags & EPOLL_CLOEXEC);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_EPOLL, (int)fd);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  return fd;
}

static long change(int ep, int op, int fd, const struct epoll_event *ev) {
  struct hd_file *f = hd_file_of(ep), *g = hd_file_of(fd);
  if (!g && (hd_reserved_fd(fd) || hd_sys(SYS_fcntl, fd, F_GETFD, 0) < 0)) return -EBADF;
  if (!f) return hd_reserved_fd(ep) || hd_sys(SYS_fcntl, ep, F_GETFD, 0) < 0 ? -EBADF : -EINVAL;
  if (f->kind != HD_FD_EPOLL || f == g) return -EINVAL;
  if (!g && !hd_is_external(fd)) return -EPERM; // a regular file
  if (!g && op != EPOLL_CTL_DEL && ev->events & EPOLLET) hd_unsupported("an edge-triggered watch of a terminal, FIFO or device");
  uint32_t i = 0;
  while (i < f->nwatches && (f->watches[i].fd != fd || f->watches[i].file != g)) i++;
  bool there = i < f->nwatches;
  switch (op) {
  case EPOLL_CTL_ADD:
    if (there) return -EEXIST;
    if (f->nwatches == HD_MAX_WATCHES) hd_unsupported("an epoll set of more than 4096 descriptors");
    f->nwatches++;
    break;
  case EPOLL_CTL_MOD:
    if (!there) return -ENOENT;
    break;
  case EPOLL_CTL_DEL:
    if (!there) return -ENOENT;
    drop(f, i);
    return 0;
  default: return -EINVAL;
  }
  f->watches[i] = (struct hd_watch){ .file = g, .fd = fd, .events = ev->events | EPOLLERR | EPOLLHUP, .data = ev->data.u64, .fresh = true };
  hd_became_readable(f);
  return 0;
}

static long control(int ep, int op, int fd, const struct epoll_event *p, uint64_t pc) {
  struct epoll_event ev = { 0 };
  hd.cur->pend.pc = pc;
  if (op != EPOLL_CTL_DEL) hd_from_program(&ev, p, sizeof ev);
  struct hd_file *f = hd_file_of(ep);
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, pc, f ? f->id : 0, ep, 0, NULL);
  long r = change(ep, op, fd, &ev);
  hd_io_done(t, 0, -r);
  if (!r) hd_io_rearm();
  return r;
}

static bool ready(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  return !f || f->kind != HD_FD_EPOLL || hd_epoll_mask(f);
}
static uint64_t expires(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  return f && f->kind == HD_FD_EPOLL ? hd_epoll_expires(f) : ~0ull;
}

static long wait(int ep, struct epoll_event *out, int max, uint64_t ns, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (max <= 0) return -EINVAL;
  uint64_t until = ns == ~0ull ? ~0ull : hd_after(ns);
  for (;;) {
    struct hd_file *f = hd_file_of(ep);
    bool external = false;
    if (f && f->kind == HD_FD_EPOLL)
      for (uint32_t i = 0; i < f->nwatches; i++) external |= !f->watches[i].file;
    if (external && ns) hd_unsupported("an epoll set with a terminal, FIFO or device in it");
    struct hd_io_wait w = { .ready = ready, .expires = expires, .file = f, .fd = ep, .until = until, .intr = HD_INTR_ALWAYS };
    struct hd_thread *t = hd_io_point(HD_OP_FD_POLL, pc, f ? f->id : 0, ep, (uint64_t)max, ns ? &w : NULL);
    if (hd_io_interrupted(t)) return -EINTR;
    f = ns ? hd_io_target(&w) : hd_file_of(ep);
    bool late = hd.vtime >= until;
    if (!f) return hd_io_done(t, 0, EBADF);
    if (f->kind != HD_FD_EPOLL) return hd_io_done(t, 0, EINVAL);
    long n = 0;
    uint32_t first = f->first_watch;
    for (uint32_t k = 0; k < f->nwatches && n < max; k++) {
      uint32_t i = (first + k) % f->nwatches;
      struct hd_watch *x = &f->watches[i];
      uint32_t now = told(x);
      if (!now) continue;
      struct epoll_event ev = { .events = now, .data.u64 = x->data };
      hd_to_program(&out[n++], &ev, sizeof ev);
      x->fresh = false;
      if (x->file) {
        x->in_seen = in_seq(x->file);
        x->out_seen = x->file->out_seq;
        x->end_seen = x->file->end_seq;
      }
      if (x->events & EPOLLONESHOT) x->events &= EPOLLET | EPOLLONESHOT;
      f->first_watch = (i + 1) % f->nwatches;
    }
    hd_io_done(t, (uint64_t)n, 0);
    if (!n) hd_observe(t, pc, 0);
    if (n || !ns || late) {
      hd_kernel_exit(pc);
      return n;
    }
  }
}

HD_INTERPOSE(int, epoll_create, (int size), (size)) {
  return (int)hd_errno_result(size <= 0 ? -EINVAL : create(0, HD_RA));
}
HD_INTERPOSE(int, epoll_create1, (int flags), (flags)) {
  return (int)hd_errno_result(create(flags, HD_RA));
}
HD_INTERPOSE(int, epoll_ctl, (int ep, int op, int fd, struct epoll_event *ev), (ep, op, fd, ev)) {
  return (int)hd_errno_result(control(ep, op, fd, ev, HD_RA));
}
HD_INTERPOSE(int, epoll_wait, (int ep, struct epoll_event *out, int max, int ms), (ep, out, max, ms)) {
  return (int)hd_errno_result(wait(ep, out, max, ms < 0 ? ~0ull : (uint64_t)ms * 1000000, HD_RA));
}
static int masked_wait(int ep, struct epoll_event *out, int max, uint64_t ns, const sigset_t *mask, uint64_t pc) {
  hd_mask_for_call(mask, pc);
  long r = wait(ep, out, max, ns, pc);
  hd_mask_back(pc);
  return (int)hd_errno_result(r);
}
HD_INTERPOSE(int, epoll_pwait, (int ep, struct epoll_event *out, int max, int ms, const sigset_t *mask), (ep, out, max, ms, mask)) {
  return masked_wait(ep, out, max, ms < 0 ? ~0ull : (uint64_t)ms * 1000000, mask, HD_RA);
}
HD_INTERPOSE(int, epoll_pwait2, (int ep, struct epoll_event *out, int max, const struct timespec *ts, const sigset_t *mask), (ep, out, max, ts, mask)) {
  hd.cur->pend.pc = HD_RA;
  uint64_t ns = hd_ns_of(ts);
  if (ns == HD_BAD_NS) return (int)hd_errno_result(-EINVAL);
  return masked_wait(ep, out, max, ns, mask, HD_RA);
}
