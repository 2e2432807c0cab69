// transfer.c: reading and writing, for every kind of descriptor.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include "core/outcome.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/random.h"
#include "io/socket.h"
#include "io/stream.h"

enum { MOST = 0x7ffff000 }; // the kernel moves no more in one call

// ---- readiness
static bool kernel_ready(int fd, bool write) {
  struct pollfd p = { .fd = fd, .events = write ? POLLOUT : POLLIN };
  return hd_sys(SYS_poll, &p, 1, 0) != 0;
}

static bool event_room(const struct hd_file *f, const struct hd_msg *m) {
  struct hd_msg look = *m;
  uint64_t v = 0;
  hd_gather(&look, &v, 8);
  return v == ~0ull || v <= ~0ull - 1 - f->count;
}

// A read of no bytes from a socket returns 0 in every state; recv checks the state.
static bool reads_nothing(const struct hd_msg *m, bool write) { return m->plain && !write && !m->size; }

static bool ready(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  if (!f) return w->file || !w->external || kernel_ready(w->fd, w->write);
  struct hd_stream *s = w->write ? f->out : f->in;
  if (((const struct hd_msg *)w->arg)->offset >= 0) return true; // an error
  switch (f->kind) {
  case HD_FD_PIPE:
    if (!s) return true;
    if (!w->write) return s->len || !s->writer;
    return !s->reader || hd_room(s) >= (w->size <= PIPE_BUF ? w->size : 1);
  case HD_FD_SOCKET: return reads_nothing(w->arg, w->write) || hd_sock_ready(f, w->write, w->size);
  case HD_FD_EVENTFD: return w->size < 8 || (w->write && w->size > 8) || (w->write ? event_room(f, w->arg) : f->count != 0);
  case HD_FD_TIMERFD: return w->write || w->size < 8 || hd_timerfd_count(f) != 0;
  case HD_FD_SIGNALFD: return w->write || w->size < sizeof(struct signalfd_siginfo) || hd_signalfd_ready(f);
  }
  return true;
}

static uint64_t expires(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  return f && !w->write ? hd_file_expires(f) : ~0ull;
}

// ---- the transfer, or -EAGAIN; value is what the event records if not the number of bytes
static long pipe_io(struct hd_file *f, bool write, struct hd_msg *m) {
  struct hd_stream *s = write ? f->out : f->in;
  if (!s) return -EBADF;
  uint64_t left = m->size - m->done;
  if (!m->size) return 0;
  if (!write) {
    if (!s->len) return s->writer ? -EAGAIN : 0;
    bool full = hd_room(s) < PIPE_BUF;
    uint64_t n = s->len < left ? s->len : left;
    hd_stream_get(s, m, n, false);
    if (full) hd_became_writable(s->writer);
    return (long)n;
  }
  if (!s->reader) return -EPIPE;
  uint64_t n = hd_room(s) < left ? hd_room(s) : left;
  if (!n || (m->size <= PIPE_BUF && n < left)) return -EAGAIN;
  hd_stream_put(s, m, n);
  hd_became_readable(s->reader);
  return (long)n;
}

static long event_io(struct hd_file *f, bool write, struct hd_msg *m, uint64_t *value) {
  uint64_t v = 0;
  if (m->size < 8 || (write && m->size > 8)) return -EINVAL; // longer ones: since Linux 6.6
  if (write) {
    hd_gather(m, &v, 8);
    m->done = 0;
    if (v == ~0ull) return -EINVAL;
    if (v > ~0ull - 1 - f->count) return -EAGAIN;
    f->count += v;
    hd_became_readable(f);
  } else {
    if (!f->count) return -EAGAIN;
    v = f->semaphore ? 1 : f->count;
    f->count -= v;
    hd_scatter(m, &v, 8);
    hd_became_writable(f);
  }
  *value = v;
  m->done = 8;
  return 8;
}

static long timer_io(struct hd_file *f, bool write, struct hd_msg *m, uint64_t *value) {
  if (write || m->size < 8) return -EINVAL;
  uint64_t v = hd_timerfd_count(f);
  if (!v) return -EAGAIN;
  hd_timerfd_taken(f);
  hd_scatter(m, &v, 8);
  *value = v;
  return 8;
}

static long kernel_io(int fd, bool write, struct hd_msg *m) {
  if (hd_reserved_fd(fd)) return -EBADF;
  if (!write && hd_random_readable(fd)) return hd_random_read(m);
  // The kernel takes RWF_ flags and the offset -1 for "the current position" in one call only.
  return hd_sys6(write ? SYS_pwritev2 : SYS_preadv2, fd, (long)m->iov, (long)m->niov, m->offset, m->offset < 0 ? -1 : 0, m->rwf);
}

static long attempt(int fd, struct hd_file *f, bool write, struct hd_msg *m, uint64_t *value) {
  if (!f) return kernel_io(fd, write, m);
  if (m->offset >= 0) return -ESPIPE;
  switch (f->kind) {
  case HD_FD_PIPE: return pipe_io(f, write, m);
  case HD_FD_SOCKET: return reads_nothing(m, write) ? 0 : hd_sock_transfer(f, write, m);
  case HD_FD_EVENTFD: return event_io(f, write, m, value);
  case HD_FD_TIMERFD: return timer_io(f, write, m, value);
  case HD_FD_SIGNALFD: return write ? -EINVAL : hd_signalfd_read(f, m);
  }
  return -EINVAL;
}

static uint64_t object(int fd, struct hd_file *f, bool write, const struct hd_msg *m) {
  if (!f) return hd_kernel_object(fd);
  if (f->kind == HD_FD_SOCKET) return hd_sock_object(f, write, m->to);
  struct hd_stream *s = write ? f->out : f->in;
  return s ? s->id : f->id;
}

static long transfer(int fd, bool write, struct hd_msg *m, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (write) hd_record_io(m, m->size, false, pc);
  if (m->size > MOST) m->size = MOST;
  uint64_t until = ~0ull;
  for (bool begun = false;; begun = true) {
    struct hd_file *f = hd_file_of(fd);
    bool external = !f && hd_is_external(fd);
    struct hd_io_wait w = { .ready = ready, .expires = expires, .file = f, .fd = fd, .write = write, .size = m->size, .until = ~0ull, .external = external, .arg = m };
    w.begun = m->done != 0;
    w.intr = m->done ? HD_INTR_ALWAYS : HD_INTR_RESTART;
    if (f && f->sock) {
      uint64_t ns = write ? f->sock->sndtimeo : f->sock->rcvtimeo;
      if (!begun) until = ns ? hd_after(ns) : ~0ull;
      w.until = until;
      if (ns) w.intr = HD_INTR_ALWAYS;
    }
    if (external && hd_external_early(fd)) hd_require_isolation(HD_ISOLATION_PROCESS, "a pipe or socket that was made before main");
    if (external) HD_CALL_MODULES(external_used, fd, write);
    bool waits = f ? !f->nonblock && !(m->flags & MSG_DONTWAIT) : external && !(hd_sys(SYS_fcntl, fd, F_GETFL, 0) & O_NONBLOCK);
    struct hd_thread *t = hd_io_point(write ? HD_OP_FD_WRITE : HD_OP_FD_READ, pc, object(fd, f, write, m), fd, m->size, waits ? &w : NULL);
    if (hd_io_interrupted(t)) return m->done ? (long)m->done : -EINTR;
    f = waits ? hd_io_target(&w) : hd_file_of(fd);
    t->pend.obj = object(fd, f, write, m);
    uint64_t value = ~0ull;
    bool late = hd.vtime >= w.until;
    long n = attempt(fd, f, write, m, &value);
    if (external) hd_others_sent();
    if (n < 0) {
      hd_io_done(t, 0, -n);
      if (n == -EAGAIN && waits && !late) continue;
      if (m->done) return (long)m->done;
      if (n == -EPIPE && !(m->flags & MSG_NOSIGNAL)) raise(SIGPIPE);
      return n;
    }
    bool more = waits && f && (f->kind == HD_FD_PIPE || (f->sock && f->sock->type == SOCK_STREAM)) &&
                n > 0 && m->done < m->size && (write || m->flags & MSG_WAITALL);
    hd_io_done(t, value == ~0ull ? (uint64_t)n : value, 0);
    if (f && f->kind == HD_FD_SIGNALFD) hd_update_all(); // other threads may have waited for the signal
    if (more) continue;
    if (f && f->sock && m->done && f->sock->type == SOCK_STREAM) n = (long)m->done;
    else if (write && f && f->kind == HD_FD_PIPE) n = (long)m->done;
    if (!write) hd_record_io(m, (uint64_t)n < m->size ? (uint64_t)n : m->size, true, pc);
    return n;
  }
}

long hd_transfer(int fd, bool write, struct hd_msg *m, uint64_t pc) {
  long n = transfer(fd, write, m, pc);
  hd_kernel_exit(pc);
  return n;
}
