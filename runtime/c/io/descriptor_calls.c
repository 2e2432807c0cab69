// descriptor_calls.c: operations on descriptors themselves: close, dup, fcntl, ioctl, lseek. heddle's
// own descriptors do not exist for the program: using one fails with EBADF, and they move to other
// numbers if the program asks for one of theirs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "core/setup.h"
#include "memory/heap.h"
#include "memory/shared_state.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/stdio.h"
#include "io/stream.h"

static uint64_t object(int fd, const struct hd_file *f) {
  if (!f) return hd_kernel_object(fd);
  return f->out ? f->out->id : f->in ? f->in->id : f->id;
}

static long drop(int fd) {
  struct hd_file *f = hd_file_of(fd);
  if (hd_reserved_fd(fd)) return -EBADF;
  hd_touched(fd);
  long r = hd_sys(SYS_close, fd, 0, 0);
  if (f) {
    hd_fd_set(fd, NULL);
    hd_file_release(f);
  } else if (r == 0) {
    hd_epoll_forget(NULL, fd);
  }
  return r;
}

long hd_close(int fd, uint64_t pc) {
  struct hd_thread *t = hd_io_point(HD_OP_FD_CLOSE, pc, object(fd, hd_file_of(fd)), fd, 0, NULL);
  t->pend.obj = object(fd, hd_file_of(fd));
  return hd_io_done(t, 0, -drop(fd));
}
HD_EXPORT int close(int fd) {
  return (int)hd_errno_result(hd_active() ? hd_close(fd, HD_RA) : hd_sys(SYS_close, fd, 0, 0));
}

static long close_between(unsigned lo, unsigned hi, int flags, uint64_t pc) {
  if (lo > hi || flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE)) return -EINVAL;
  if (flags & CLOSE_RANGE_CLOEXEC) return hd_sys(SYS_close_range, lo, hi, flags); // nothing is executed
  struct hd_thread *t = hd_io_point(HD_OP_FD_CLOSE, pc, 0, (int)lo, 0, NULL);
  for (unsigned fd = lo; fd <= hi && fd < HD_MAX_FD; fd++) drop((int)fd);
  if (hi >= HD_MAX_FD) hd_sys(SYS_close_range, lo > HD_MAX_FD ? lo : HD_MAX_FD, hi, 0);
  return hd_io_done(t, 0, 0);
}
HD_EXPORT int close_range(unsigned lo, unsigned hi, int flags) {
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_close_range, lo, hi, flags));
  return (int)hd_errno_result(close_between(lo, hi, flags, HD_RA));
}
HD_EXPORT void closefrom(int lo) {
  if (!hd_active()) hd_sys(SYS_close_range, lo < 0 ? 0 : lo, ~0u, 0);
  else close_between(lo < 0 ? 0 : (unsigned)lo, ~0u, 0, HD_RA);
}

// ---- copies
//
static long copy_from(int fd, int lowest, bool cloexec) {
  struct hd_file *f = hd_file_of(fd);
  if (hd_reserved_fd(fd)) return -EBADF;
  long to = hd_sys(SYS_fcntl, fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, lowest); // of the placeholder, too
  if (to < 0) return to;
  if (f && to >= HD_MAX_FD) {
    hd_sys(SYS_close, to, 0, 0);
    return -EMFILE;
  }
  hd_fd_opened();
  if (f) {
    hd_file_hold(f);
    hd_fd_set((int)to, f);
  }
  return to;
}

static long copy_to(int from, int to, int flags) {
  if (hd_reserved_fd(from)) return -EBADF;
  if (hd_sys(SYS_fcntl, from, F_GETFD, 0) < 0) return -EBADF;
  if (hd_file_of(from) && to >= HD_MAX_FD) return -EBADF;
  if (from == to) return to;
  if (hd_reserved_fd(to)) hd_unreserve();
  struct hd_file *f = hd_file_of(from), *old = hd_file_of(to);
  if (f) hd_file_hold(f);
  long r = hd_sys(SYS_dup3, from, to, flags);
  if (r < 0) {
    if (f) hd_file_release(f);
    return r;
  }
  hd_touched(to);
  hd_fd_opened();
  if (f || old) hd_fd_set(to, f);
  if (old) hd_file_release(old);
  else hd_epoll_forget(NULL, to);
  return r;
}

static long finish(struct hd_thread *t, long r) {
  uint64_t pc = t->pend.pc;
  hd_io_done(t, r < 0 ? 0 : (uint64_t)r, r < 0 ? -r : 0);
  if (HD_UNLIKELY(hd_stdio_moved)) hd_stdio_settle(pc);
  return hd_errno_result(r);
}

HD_EXPORT int dup(int fd) {
  if (!hd_active()) { hd_fd_opened(); return (int)hd_errno_result(hd_sys(SYS_dup, fd, 0, 0)); }
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(fd, hd_file_of(fd)), fd, 0, NULL);
  return (int)finish(t, copy_from(fd, 0, false));
}
HD_EXPORT int dup2(int from, int to) {
  if (!hd_active()) { hd_fd_opened(); return (int)hd_errno_result(hd_sys(SYS_dup2, from, to, 0)); }
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(from, hd_file_of(from)), from, 0, NULL);
  return (int)finish(t, copy_to(from, to, 0));
}
HD_EXPORT int dup3(int from, int to, int flags) {
  if (!hd_active()) { hd_fd_opened(); return (int)hd_errno_result(hd_sys(SYS_dup3, from, to, flags)); }
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(from, hd_file_of(from)), from, 0, NULL);
  return (int)finish(t, from == to || flags & ~O_CLOEXEC ? -EINVAL : copy_to(from, to, flags));
}

// ---- fcntl
static long set_pipe_size(struct hd_file *f, long n) {
  struct hd_stream *s = f->in ? f->in : f->out;
  if (f->kind != HD_FD_PIPE) return -EBADF;
  uint32_t size = 4096;
  if (n > 1 << 20) return -EPERM;
  while (size < n) size *= 2;
  if (size < s->len) return -EBUSY;
  struct hd_stream *fresh = hd_stream_new(NULL, NULL, size, 0, false);
  char *buf = fresh->buf;
  hd_stream_look(s, buf, s->len);
  fresh->used = false;
  fresh->cap = 0; // its buffer was moved
  s->buf = buf;
  s->cap = size;
  s->head = 0;
  if (f->in ? f->in->writer != NULL : true) hd_became_writable(s->writer);
  return size;
}

static long control(int fd, int cmd, long arg) {
  struct hd_file *f = hd_file_of(fd);
  if (hd_reserved_fd(fd)) return -EBADF;
  if (cmd == F_SETFD || cmd == F_SETFL) hd_fd_mode_set();
  switch (cmd) {
  case F_DUPFD: return copy_from(fd, (int)arg, false);
  case F_DUPFD_CLOEXEC: return copy_from(fd, (int)arg, true);
  case F_GETFD: case F_SETFD: return hd_sys(SYS_fcntl, fd, cmd, arg);
  case F_OFD_SETLKW: hd_unsupported("a lock of an open file (F_OFD_SETLKW)");
  }
  if (!f && cmd != F_GETFL && cmd != F_SETFL) hd_setup_refuse("a call of fcntl"); // a fork inherits no locks
  if (!f) return hd_sys(SYS_fcntl, fd, cmd, arg);
  switch (cmd) {
  case F_GETFL: return (f->kind != HD_FD_PIPE ? O_RDWR : f->out ? O_WRONLY : O_RDONLY) | (f->nonblock ? O_NONBLOCK : 0);
  case F_SETFL:
    if (arg & (O_ASYNC | O_DIRECT)) hd_unsupported("signals from a descriptor, or a pipe of packets (O_ASYNC, O_DIRECT)");
    f->nonblock = arg & O_NONBLOCK;
    return 0;
  case F_GETPIPE_SZ: return f->kind == HD_FD_PIPE ? (long)(f->in ? f->in : f->out)->cap : -EBADF;
  case F_SETPIPE_SZ: return set_pipe_size(f, arg);
  case F_SETOWN: case F_SETSIG: case F_NOTIFY: hd_unsupported("signals from a descriptor (F_SETOWN, F_SETSIG)");
  }
  return -EINVAL;
}

// Outside of an execution: only a child of the program knows processes by other identifiers than the kernel.
static int by_kernel(int fd, int cmd, long arg) {
  if (cmd == F_SETOWN) arg = (int)arg < 0 ? -hd_identity_kernels_group(-(int)arg) : hd_identity_kernels((int)arg);
  long r = hd_errno_result(hd_sys(SYS_fcntl, fd, cmd, arg));
  if (cmd == F_GETLK && r == 0) ((struct flock *)arg)->l_pid = hd_identity_seen(((struct flock *)arg)->l_pid);
  return (int)(cmd == F_GETOWN && r > 0 ? hd_identity_seen(r) : r);
}

HD_EXPORT int fcntl(int fd, int cmd, ...) {
  va_list ap;
  va_start(ap, cmd);
  long arg = va_arg(ap, long);
  va_end(ap);
  if (!hd_active()) return by_kernel(fd, cmd, arg);
  hd.cur->pend.pc = HD_RA;
  if (cmd == F_SETFD) hd_unordered(HD_SHARED_PROCESS); // a child depends on it
  if (cmd == F_GETFL || cmd == F_GETFD || cmd == F_SETFD) return (int)hd_errno_result(control(fd, cmd, arg));
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(fd, hd_file_of(fd)), fd, 0, NULL);
  return (int)finish(t, control(fd, cmd, arg));
}
HD_EXPORT int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

// What FIONREAD gives: of datagrams the first, of anything else all.
static uint64_t waiting(const struct hd_file *f) {
  const struct hd_stream *s = f->in ? f->in : f->out;
  if (!s) return 0;
  if (!s->packets) return s->len;
  struct hd_stream at = *s; // only read from
  uint64_t sum = 0;
  while (at.len) {
    struct hd_packet head;
    hd_stream_look(&at, &head, HD_PACKET_HEAD);
    sum += head.n;
    if (f->sock->type == SOCK_DGRAM) break;
    hd_stream_drop(&at, HD_PACKET_HEAD + head.n);
  }
  return sum;
}

HD_EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list ap;
  va_start(ap, request);
  long arg = va_arg(ap, long);
  va_end(ap);
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_ioctl, fd, request, arg));
  struct hd_file *f = hd_file_of(fd);
  hd.cur->pend.pc = HD_RA;
  if (hd_reserved_fd(fd)) return (int)hd_errno_result(-EBADF);
  if (request == FIOCLEX || request == FIONCLEX || request == FIONBIO) hd_fd_mode_set();
  if (request == FIOCLEX || request == FIONCLEX) hd_unordered(HD_SHARED_PROCESS);
  if (request == FIOCLEX || request == FIONCLEX) return (int)hd_errno_result(hd_sys(SYS_fcntl, fd, F_SETFD, request == FIOCLEX));
  if (!f) return (int)hd_errno_result(hd_sys(SYS_ioctl, fd, request, arg));
  int v = 0;
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(fd, f), fd, 0, NULL);
  if (!(f = hd_file_of(fd))) return (int)finish(t, -EBADF);
  switch (request) {
  case FIONBIO:
    hd_from_program(&v, (void *)arg, sizeof v);
    f->nonblock = v != 0;
    return (int)finish(t, 0);
  case FIONREAD:
    if (f->sock && f->sock->state == HD_SOCK_LISTENING) return (int)finish(t, -EINVAL);
    if (!f->sock && !f->in && !f->out) return (int)finish(t, -ENOTTY);
    v = (int)waiting(f);
    hd_to_program((void *)arg, &v, sizeof v);
    return (int)finish(t, 0);
  }
  return (int)finish(t, -ENOTTY);
}

HD_EXPORT off_t lseek(int fd, off_t offset, int whence) {
  if (!hd_active()) return hd_errno_result(hd_sys(SYS_lseek, fd, offset, whence));
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, HD_RA, object(fd, hd_file_of(fd)), fd, 0, NULL);
  if (hd_reserved_fd(fd)) return finish(t, -EBADF);
  return finish(t, hd_file_of(fd) ? -ESPIPE : hd_sys(SYS_lseek, fd, offset, whence));
}
HD_EXPORT off_t lseek64(int, off_t, int) __attribute__((alias("lseek")));

// ---- dprintf
static int print(int fd, const char *fmt, va_list ap, uint64_t pc) {
  if (!hd_active() || !hd_file_of(fd)) return REAL(vdprintf)(fd, fmt, ap);
  char *s = NULL;
  int n = REAL(vasprintf)(&s, fmt, ap);
  if (n < 0) return n;
  struct iovec v = { s, (size_t)n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = (uint64_t)n, .offset = -1 };
  long r = hd_transfer(fd, true, &m, pc);
  hd_heap_free(s, pc);
  return (int)hd_errno_result(r);
}
HD_EXPORT int vdprintf(int fd, const char *fmt, va_list ap) { return print(fd, fmt, ap, HD_RA); }
HD_EXPORT int dprintf(int fd, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int r = print(fd, fmt, ap, HD_RA);
  va_end(ap);
  return r;
}
