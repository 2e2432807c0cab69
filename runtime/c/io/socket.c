// socket.c: sockets of AF_UNIX and, on loopback, AF_INET and AF_INET6: streams, datagrams,
// and for AF_UNIX sequenced packets. Making, naming and connecting them.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/socket.h"

struct hd_file *hd_socket_of(int fd, long *err) {
  struct hd_file *f = hd_file_of(fd);
  if (f && f->sock) return f;
  *err = f || (!hd_reserved_fd(fd) && hd_sys(SYS_fcntl, fd, 1 /* F_GETFD */, 0) >= 0) ? -ENOTSOCK : -EBADF;
  return NULL;
}

static struct hd_file *sock_new(int domain, int type, int protocol) {
  struct hd_file *f = hd_file_new(HD_FD_SOCKET);
  f->sock->domain = (uint16_t)domain;
  f->sock->type = (uint16_t)(type & 0xf);
  f->sock->protocol = protocol;
  f->nonblock = type & SOCK_NONBLOCK;
  return f;
}

static void pair(struct hd_file *a, struct hd_file *b, uint64_t to_a, uint64_t to_b) {
  bool packets = a->sock->type != SOCK_STREAM;
  a->in = b->out = hd_stream_new(b, a, HD_SOCK_BUFFER, to_a, packets);
  b->in = a->out = hd_stream_new(a, b, HD_SOCK_BUFFER, to_b, packets);
  a->sock->state = b->sock->state = HD_SOCK_CONNECTED;
}

static long supported(int domain, int type, int protocol) {
  if (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6) hd_unsupported("a socket of a family other than AF_UNIX, AF_INET and AF_INET6");
  int kind = type & 0xf;
  if (type & ~(0xf | SOCK_NONBLOCK | SOCK_CLOEXEC)) return -EINVAL;
  if (kind == SOCK_RAW) hd_unsupported("a raw socket");
  if (kind != SOCK_STREAM && kind != SOCK_DGRAM && !(kind == SOCK_SEQPACKET && domain == AF_UNIX)) return -ESOCKTNOSUPPORT;
  if (domain != AF_UNIX && protocol && protocol != (kind == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP)) return -EPROTONOSUPPORT;
  return 0;
}

static long new_socket(int domain, int type, int protocol, uint64_t pc) {
  hd.cur->pend.pc = pc;
  long err = supported(domain, type, protocol);
  if (err) return err;
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *f = sock_new(domain, type, protocol);
  long fd = hd_fd_new(f, type & SOCK_CLOEXEC);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_SOCKET, (int)fd);
  if (f->sock->type == SOCK_DGRAM) f->in = hd_stream_new(NULL, f, HD_SOCK_BUFFER, f->id, true);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  return fd;
}

static long new_pair(int domain, int type, int protocol, int *out, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (domain != AF_UNIX) return domain == AF_INET || domain == AF_INET6 ? -EOPNOTSUPP : -EAFNOSUPPORT;
  long err = supported(domain, type, protocol);
  if (err) return err;
  hd_refresh(out, 2 * sizeof *out, pc);
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *a = sock_new(domain, type, protocol), *b = sock_new(domain, type, protocol);
  long x = hd_fd_new(a, type & SOCK_CLOEXEC), y = x < 0 ? x : hd_fd_new(b, type & SOCK_CLOEXEC);
  if (y < 0) {
    if (x >= 0) { hd_fd_set((int)x, NULL); hd_sys(SYS_close, x, 0, 0); }
    hd_file_release(a);
    hd_file_release(b);
    return hd_io_done(t, 0, -y);
  }
  a->fd = (int)x;
  b->fd = (int)y;
  a->id = hd_fd_object(HD_FD_SOCKET, (int)x);
  b->id = hd_fd_object(HD_FD_SOCKET, (int)y);
  pair(a, b, a->id, b->id);
  a->sock->local.family = a->sock->peer.family = b->sock->local.family = b->sock->peer.family = AF_UNIX;
  t->pend.obj = a->id;
  t->pend.aux = (uint64_t)x;
  int fds[2] = { (int)x, (int)y };
  hd_io_done(t, 0, 0);
  hd_to_program(out, fds, sizeof fds);
  return 0;
}

// ---- names
static long do_bind(int fd, const struct sockaddr *sa, socklen_t len, uint64_t pc) {
  long err = 0;
  hd.cur->pend.pc = pc;
  struct hd_file *f = hd_socket_of(fd, &err);
  struct hd_addr a;
  int bad = hd_addr_get(sa, len, &a);
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, pc, f ? f->id : 0, fd, 0, NULL);
  if (!(f = hd_socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (bad) return hd_io_done(t, 0, -bad);
  return hd_io_done(t, 0, -hd_addr_bind(f, &a));
}

static long do_listen(int fd, int backlog, uint64_t pc) {
  long err = 0;
  struct hd_file *f = hd_socket_of(fd, &err);
  struct hd_thread *t = hd_io_point(HD_OP_FD_LISTEN, pc, f ? f->id : 0, fd, 0, NULL);
  if (!(f = hd_socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (f->sock->type == SOCK_DGRAM) return hd_io_done(t, 0, EOPNOTSUPP);
  if (f->sock->state == HD_SOCK_CONNECTED || f->sock->unconfirmed || f->sock->spent || (f->sock->domain == AF_UNIX && !f->sock->local.family)) return hd_io_done(t, 0, EINVAL);
  hd_addr_bind_any(f);
  f->sock->state = HD_SOCK_LISTENING;
  // The kernel queues one more connection than the backlog.
  f->sock->backlog = backlog < 0 || backlog >= HD_BACKLOG ? HD_BACKLOG : (uint32_t)backlog + 1;
  return hd_io_done(t, 0, 0);
}

static long get_name(int fd, struct sockaddr *sa, socklen_t *len, bool peer) {
  long err = 0;
  struct hd_file *f = hd_socket_of(fd, &err);
  if (!f) return err;
  if (peer && (f->sock->state != HD_SOCK_CONNECTED || f->sock->closed || !f->sock->peer.family)) return -ENOTCONN;
  struct hd_addr none = { .family = f->sock->domain };
  if (none.family == AF_INET) none.ip[10] = none.ip[11] = 0xff;
  const struct hd_addr *a = peer ? &f->sock->peer : &f->sock->local;
  hd_addr_put(a->family ? a : &none, f->sock->domain, sa, len);
  return 0;
}

// ---- connecting
// An AF_UNIX listener that was shut down accepts the connections in its queue, then no more. A TCP
// listener stops listening.
static bool accepts_no_more(const struct hd_file *l) { return l->sock->domain == AF_UNIX && l->sock->shut & HD_SHUT_RECEIVE; }

static bool connect_ready(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  if (!f || !f->sock || f->sock->state != HD_SOCK_NEW) return true;
  struct hd_file *l = hd_addr_socket(w->arg, f->sock->type);
  return !l || accepts_no_more(l) || l->sock->nqueue < l->sock->backlog;
}

static long connect_now(struct hd_file *f, const struct hd_addr *a, struct hd_file *l) {
  struct hd_sock *s = f->sock;
  if (s->state == HD_SOCK_LISTENING) return s->domain == AF_UNIX ? -EINVAL : -EISCONN;
  if (s->spent) return -EINVAL;
  if (s->unconfirmed) {
    s->unconfirmed = false;
    if (s->state == HD_SOCK_CONNECTED && !s->closed) return 0;
    long e = s->err ? -s->err : -ECONNABORTED;
    s->err = 0;
    hd_tcp_disconnect(f);
    return e;
  }
  if (s->state == HD_SOCK_CONNECTED) return -EISCONN;
  if (!l) {
    if (s->domain == AF_UNIX) return hd_addr_known(a) ? -ECONNREFUSED : -ENOENT;
    if (!f->nonblock) return -ECONNREFUSED;
    s->err = ECONNREFUSED;
    s->shut = HD_SHUT_BOTH;
    s->unconfirmed = true;
    hd_ended(f);
    return -EINPROGRESS;
  }
  if (accepts_no_more(l)) return -ECONNREFUSED;
  if (l->sock->nqueue >= l->sock->backlog) return s->domain == AF_UNIX ? -EAGAIN : -ETIMEDOUT;
  hd_addr_bind_any(f);
  struct hd_file *g = sock_new(s->domain == AF_INET && l->sock->domain == AF_INET6 ? AF_INET6 : s->domain, s->type, s->protocol);
  g->fd = l->fd;
  g->id = hd_fd_object(HD_FD_SOCKET, l->fd);
  g->sock->local = l->sock->local;
  if (s->domain != AF_UNIX) {
    hd_copy(g->sock->local.ip, a->ip, 16);
    if (s->domain == AF_INET6 && a->ip[15] == 0) g->sock->local.ip[15] = 1;
  }
  g->sock->peer = s->local;
  hd_copy(g->sock->opts, l->sock->opts, sizeof g->sock->opts);
  g->sock->nopts = l->sock->nopts;
  s->peer = *a;
  pair(f, g, f->id, g->id);
  l->sock->queue[l->sock->nqueue++] = g;
  hd_became_readable(l);
  hd_became_writable(f);
  if (hd_is_tcp(g)) hd_tcp_inherit(g, l);
  if (f->nonblock && s->domain != AF_UNIX) {
    s->unconfirmed = true;
    return -EINPROGRESS;
  }
  return 0;
}

static long do_connect(int fd, const struct sockaddr *sa, socklen_t len, uint64_t pc) {
  long err = 0;
  hd.cur->pend.pc = pc;
  struct hd_file *f = hd_socket_of(fd, &err);
  struct hd_addr a;
  int bad = hd_addr_get(sa, len, &a);
  if (!f || bad || a.family == AF_UNSPEC || a.family != f->sock->domain || f->sock->type == SOCK_DGRAM) {
    struct hd_thread *t = hd_io_point(HD_OP_FD_CONNECT, pc, 0, fd, 0, NULL);
    if (!(f = hd_socket_of(fd, &err))) return hd_io_done(t, 0, -err);
    if (bad) return hd_io_done(t, 0, -bad);
    if (hd_is_tcp(f) && a.family == AF_UNSPEC) {
      hd_tcp_disconnect(f);
      return hd_io_done(t, 0, 0);
    }
    if (f->sock->type != SOCK_DGRAM) return hd_io_done(t, 0, hd_is_tcp(f) ? EAFNOSUPPORT : EINVAL);
    if (a.family != AF_UNSPEC) {
      struct hd_file *to = hd_addr_socket(&a, SOCK_DGRAM);
      if (f->sock->domain == AF_UNIX && !to) return hd_io_done(t, 0, hd_addr_known(&a) ? ECONNREFUSED : ENOENT);
      hd_addr_bind_any(f);
    }
    f->sock->peer = a;
    f->sock->state = a.family == AF_UNSPEC ? HD_SOCK_NEW : HD_SOCK_CONNECTED;
    return hd_io_done(t, 0, 0);
  }
  struct hd_file *l = hd_addr_socket(&a, f->sock->type);
  struct hd_io_wait w = { .ready = connect_ready, .file = f, .fd = fd, .until = f->sock->sndtimeo ? hd_after(f->sock->sndtimeo) : ~0ull, .arg = &a };
  w.intr = f->sock->sndtimeo ? HD_INTR_ALWAYS : HD_INTR_RESTART;
  bool waits = !f->nonblock, local = f->sock->domain == AF_UNIX;
  struct hd_thread *t = hd_io_point(HD_OP_FD_CONNECT, pc, l ? l->id : 0, fd, 0, waits ? &w : NULL);
  if (hd_io_interrupted(t)) {
    // The kernel would continue connecting while the program does something else.
    if (!local) hd_unsupported("a TCP connect that a signal handler interrupts while the listener's queue is full");
    return -EINTR;
  }
  f = waits ? hd_io_target(&w) : hd_file_of(fd);
  if (!f || !f->sock) return hd_io_done(t, 0, EBADF);
  l = hd_addr_socket(&a, f->sock->type);
  t->pend.obj = l ? l->id : 0;
  long r = connect_now(f, &a, l);
  return hd_io_done(t, 0, -r);
}

static bool accept_ready(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  return !f || !f->sock || f->sock->state != HD_SOCK_LISTENING || f->sock->nqueue || accepts_no_more(f);
}

static long take_connection(int fd, struct sockaddr *sa, socklen_t *len, int flags, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) return -EINVAL;
  long err = 0;
  uint64_t until = ~0ull;
  for (bool begun = false;; begun = true) {
    struct hd_file *f = hd_socket_of(fd, &err);
    if (f && f->sock->rcvtimeo && !begun) until = hd_after(f->sock->rcvtimeo);
    struct hd_io_wait w = { .ready = accept_ready, .file = f, .fd = fd, .until = until, .intr = until == ~0ull ? HD_INTR_RESTART : HD_INTR_ALWAYS };
    bool waits = f && !f->nonblock;
    struct hd_thread *t = hd_io_point(HD_OP_FD_ACCEPT, pc, f ? f->id : 0, fd, 0, waits ? &w : NULL);
    if (hd_io_interrupted(t)) return -EINTR;
    f = waits ? hd_io_target(&w) : hd_socket_of(fd, &err);
    if (!f || !f->sock) return hd_io_done(t, 0, f ? ENOTSOCK : err ? -err : EBADF);
    if (f->sock->type == SOCK_DGRAM) return hd_io_done(t, 0, EOPNOTSUPP);
    if (f->sock->state != HD_SOCK_LISTENING) return hd_io_done(t, 0, EINVAL);
    if (!f->sock->nqueue) {
      if (accepts_no_more(f)) return hd_io_done(t, 0, EINVAL);
      hd_io_done(t, 0, EAGAIN);
      if (waits && hd.vtime < until) continue;
      return -EAGAIN;
    }
    struct hd_file *g = f->sock->queue[0];
    long got = hd_fd_new(g, flags & SOCK_CLOEXEC);
    if (got < 0) return hd_io_done(t, 0, -got);
    f->sock->nqueue--;
    for (uint32_t i = 0; i < f->sock->nqueue; i++) f->sock->queue[i] = f->sock->queue[i + 1];
    g->fd = (int)got;
    g->nonblock = flags & SOCK_NONBLOCK;
    hd_io_done(t, (uint64_t)got, 0);
    hd_addr_put(&g->sock->peer, f->sock->domain, sa, len);
    return got;
  }
}

static long do_accept(int fd, struct sockaddr *sa, socklen_t *len, int flags, uint64_t pc) {
  long got = take_connection(fd, sa, len, flags, pc);
  hd_kernel_exit(pc);
  return got;
}

static long do_shutdown(int fd, int how, uint64_t pc) {
  long err = 0;
  struct hd_file *f = hd_socket_of(fd, &err);
  struct hd_thread *t = hd_io_point(HD_OP_FD_SHUTDOWN, pc, f ? hd_sock_object(f, true, NULL) : 0, fd, 0, NULL);
  if (!(f = hd_socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (how < 0 || how > 2) return hd_io_done(t, 0, EINVAL);
  if (hd_is_tcp(f)) {
    long r = hd_tcp_shutdown(f, how);
    hd_io_done(t, (uint64_t)how, -r);
    return r;
  }
  bool datagrams = f->sock->type == SOCK_DGRAM;
  if (f->sock->state != HD_SOCK_CONNECTED && f->sock->domain != AF_UNIX) return hd_io_done(t, 0, ENOTCONN);
  if (f->sock->state != HD_SOCK_CONNECTED && !datagrams) {
    f->sock->shut |= (uint8_t)(how + 1);
    hd_ended(f);
  }
  if (datagrams && how != SHUT_RD) f->sock->mute = true;
  if (!datagrams && f->out && how != SHUT_RD) {
    f->out->ended = true;
    hd_ended(f->out->reader);
    hd_ended(f);
  }
  if (f->in && how != SHUT_WR) {
    f->in->deaf = true;
    hd_ended(f);
    hd_ended(f->in->writer);
  }
  hd_io_done(t, (uint64_t)how, 0);
  return 0;
}

void hd_sock_closed(struct hd_file *f) {
  hd_addr_closed(f);
  if (hd_is_tcp(f)) {
    hd_tcp_closed(f);
    return;
  }
  struct hd_sock *s = f->sock;
  if (s->type != SOCK_DGRAM && f->in && f->in->len && f->in->writer) f->in->writer->in->reset = true;
  for (uint32_t i = 0; i < s->nqueue; i++) {
    struct hd_file *g = s->queue[i];
    if (g->out) g->out->reset = true; // the other end learns of it
    hd_file_release(g);
  }
  s->nqueue = 0;
}

#define RETURN(x) return hd_errno_result(x)
HD_INTERPOSE(int, socket, (int domain, int type, int protocol), (domain, type, protocol)) {
  RETURN((int)new_socket(domain, type, protocol, HD_RA));
}
HD_INTERPOSE(int, socketpair, (int domain, int type, int protocol, int out[2]), (domain, type, protocol, out)) {
  RETURN((int)new_pair(domain, type, protocol, out, HD_RA));
}
HD_INTERPOSE(int, bind, (int fd, const struct sockaddr *sa, socklen_t len), (fd, sa, len)) {
  RETURN((int)do_bind(fd, sa, len, HD_RA));
}
HD_INTERPOSE(int, listen, (int fd, int backlog), (fd, backlog)) {
  RETURN((int)do_listen(fd, backlog, HD_RA));
}
HD_INTERPOSE(int, connect, (int fd, const struct sockaddr *sa, socklen_t len), (fd, sa, len)) {
  RETURN((int)do_connect(fd, sa, len, HD_RA));
}
HD_INTERPOSE(int, accept, (int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len)) {
  RETURN((int)do_accept(fd, sa, len, 0, HD_RA));
}
HD_INTERPOSE(int, accept4, (int fd, struct sockaddr *sa, socklen_t *len, int flags), (fd, sa, len, flags)) {
  RETURN((int)do_accept(fd, sa, len, flags, HD_RA));
}
HD_INTERPOSE(int, shutdown, (int fd, int how), (fd, how)) {
  RETURN((int)do_shutdown(fd, how, HD_RA));
}
HD_INTERPOSE(int, getsockname, (int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len)) {
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_name(fd, sa, len, false));
}
HD_INTERPOSE(int, getpeername, (int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len)) {
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_name(fd, sa, len, true));
}
