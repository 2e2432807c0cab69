// socket.c: sockets of AF_UNIX and, on loopback, AF_INET and AF_INET6: streams, datagrams,
// and for AF_UNIX sequenced packets.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include "fd.h"

enum { BUFFER = 212992 };

bool hd_sock_flag(const struct hd_sock *s, int level, int name) {
  for (uint32_t i = 0; i < s->nopts; i++)
    if (s->opts[i].level == level && s->opts[i].name == name) return s->opts[i].value[0] != 0;
  return false;
}

static struct hd_file *socket_of(int fd, long *err) {
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
  a->in = b->out = hd_stream_new(b, a, BUFFER, to_a, packets);
  b->in = a->out = hd_stream_new(a, b, BUFFER, to_b, packets);
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
  if (f->sock->type == SOCK_DGRAM) f->in = hd_stream_new(NULL, f, BUFFER, f->id, true);
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
  struct hd_file *f = socket_of(fd, &err);
  struct hd_addr a;
  int bad = hd_addr_get(sa, len, &a);
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, pc, f ? f->id : 0, fd, 0, NULL);
  if (!(f = socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (bad) return hd_io_done(t, 0, -bad);
  return hd_io_done(t, 0, -hd_addr_bind(f, &a));
}

static long do_listen(int fd, int backlog, uint64_t pc) {
  long err = 0;
  struct hd_file *f = socket_of(fd, &err);
  struct hd_thread *t = hd_io_point(HD_OP_FD_LISTEN, pc, f ? f->id : 0, fd, 0, NULL);
  if (!(f = socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (f->sock->type == SOCK_DGRAM) return hd_io_done(t, 0, EOPNOTSUPP);
  if (f->sock->state == HD_SOCK_CONNECTED || (f->sock->domain == AF_UNIX && !f->sock->local.family)) return hd_io_done(t, 0, EINVAL);
  hd_addr_bind_any(f);
  f->sock->state = HD_SOCK_LISTENING;
  // The kernel lets one more wait than was asked for.
  f->sock->backlog = backlog < 0 || backlog >= HD_BACKLOG ? HD_BACKLOG : (uint32_t)backlog + 1;
  return hd_io_done(t, 0, 0);
}

// ---- connecting
static bool connect_ready(const struct hd_io_wait *w) {
  struct hd_file *f = hd_io_target(w);
  if (!f || !f->sock || f->sock->state != HD_SOCK_NEW) return true;
  struct hd_file *l = hd_addr_socket(w->arg, f->sock->type);
  return !l || l->sock->nqueue < l->sock->backlog;
}

static long connect_now(struct hd_file *f, const struct hd_addr *a, struct hd_file *l) {
  struct hd_sock *s = f->sock;
  if (s->state == HD_SOCK_LISTENING) return s->domain == AF_UNIX ? -EINVAL : -EISCONN;
  if (s->state == HD_SOCK_CONNECTED) {
    if (!s->unconfirmed) return -EISCONN;
    s->unconfirmed = false;
    return 0;
  }
  if (s->err) { long e = -s->err; s->err = 0; return e; }
  if (!l) {
    if (s->domain == AF_UNIX) return hd_addr_known(a) ? -ECONNREFUSED : -ENOENT;
    if (!f->nonblock) return -ECONNREFUSED;
    s->err = ECONNREFUSED;
    hd_became_readable(f);
    hd_became_writable(f);
    return -EINPROGRESS;
  }
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
  if (f->nonblock && s->domain != AF_UNIX) {
    s->unconfirmed = true;
    return -EINPROGRESS;
  }
  return 0;
}

static long do_connect(int fd, const struct sockaddr *sa, socklen_t len, uint64_t pc) {
  long err = 0;
  hd.cur->pend.pc = pc;
  struct hd_file *f = socket_of(fd, &err);
  struct hd_addr a;
  int bad = hd_addr_get(sa, len, &a);
  if (!f || bad || a.family == AF_UNSPEC || a.family != f->sock->domain || f->sock->type == SOCK_DGRAM) {
    struct hd_thread *t = hd_io_point(HD_OP_FD_CONNECT, pc, 0, fd, 0, NULL);
    if (!(f = socket_of(fd, &err))) return hd_io_done(t, 0, -err);
    if (bad) return hd_io_done(t, 0, -bad);
    if (f->sock->type != SOCK_DGRAM) return hd_io_done(t, 0, a.family == AF_UNSPEC ? EINVAL : EAFNOSUPPORT);
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
  struct hd_io_wait w = { .ready = connect_ready, .file = f, .fd = fd, .until = f->sock->sndtimeo ? hd.vtime + f->sock->sndtimeo : ~0ull, .arg = &a };
  w.intr = f->sock->sndtimeo ? HD_INTR_ALWAYS : HD_INTR_RESTART;
  bool waits = !f->nonblock, local = f->sock->domain == AF_UNIX;
  struct hd_thread *t = hd_io_point(HD_OP_FD_CONNECT, pc, l ? l->id : 0, fd, 0, waits ? &w : NULL);
  if (hd_io_interrupted(t)) {
    // The kernel would go on connecting while the program does something else.
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
  return !f || !f->sock || f->sock->state != HD_SOCK_LISTENING || f->sock->nqueue;
}

static long do_accept(int fd, struct sockaddr *sa, socklen_t *len, int flags, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) return -EINVAL;
  long err = 0;
  uint64_t until = ~0ull;
  for (bool begun = false;; begun = true) {
    struct hd_file *f = socket_of(fd, &err);
    if (f && f->sock->rcvtimeo && !begun) until = hd.vtime + f->sock->rcvtimeo;
    struct hd_io_wait w = { .ready = accept_ready, .file = f, .fd = fd, .until = until, .intr = until == ~0ull ? HD_INTR_RESTART : HD_INTR_ALWAYS };
    bool waits = f && !f->nonblock;
    struct hd_thread *t = hd_io_point(HD_OP_FD_ACCEPT, pc, f ? f->id : 0, fd, 0, waits ? &w : NULL);
    if (hd_io_interrupted(t)) return -EINTR;
    f = waits ? hd_io_target(&w) : socket_of(fd, &err);
    if (!f || !f->sock) return hd_io_done(t, 0, f ? ENOTSOCK : err ? -err : EBADF);
    if (f->sock->type == SOCK_DGRAM) return hd_io_done(t, 0, EOPNOTSUPP);
    if (f->sock->state != HD_SOCK_LISTENING) return hd_io_done(t, 0, EINVAL);
    if (!f->sock->nqueue) {
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

static long do_shutdown(int fd, int how, uint64_t pc) {
  long err = 0;
  struct hd_file *f = socket_of(fd, &err);
  struct hd_thread *t = hd_io_point(HD_OP_FD_SHUTDOWN, pc, f ? hd_sock_object(f, true, NULL) : 0, fd, 0, NULL);
  if (!(f = socket_of(fd, &err))) return hd_io_done(t, 0, -err);
  if (how < 0 || how > 2) return hd_io_done(t, 0, EINVAL);
  if (f->sock->state == HD_SOCK_LISTENING && how != SHUT_WR && f->sock->domain != AF_UNIX) { // accept gets EINVAL from now on
    f->sock->state = HD_SOCK_NEW;
    hd_ended(f);
    hd_io_done(t, (uint64_t)how, 0);
    return 0;
  }
  bool datagrams = f->sock->type == SOCK_DGRAM;
  if (f->sock->state != HD_SOCK_CONNECTED && !(datagrams && f->sock->domain == AF_UNIX)) return hd_io_done(t, 0, ENOTCONN);
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
  struct hd_sock *s = f->sock;
  for (uint32_t i = 0; i < s->nqueue; i++) {
    struct hd_file *g = s->queue[i];
    if (g->out) g->out->reset = true; // the other end is told
    hd_file_release(g);
  }
  s->nqueue = 0;
}

// ---- data
static struct hd_file *destination(struct hd_file *f, const struct hd_addr *to) {
  if (f->out) return f->out->reader;
  return hd_addr_socket(to ? to : &f->sock->peer, SOCK_DGRAM);
}

uint64_t hd_sock_object(struct hd_file *f, bool write, const struct hd_addr *to) {
  if (!write) return f->in ? f->in->id : f->id;
  if (f->out) return f->out->id;
  if (f->sock->type != SOCK_DGRAM || (!to && !f->sock->peer.family)) return f->id;
  struct hd_file *d = destination(f, to);
  return d && d->in ? d->in->id : f->id;
}

static bool ended(const struct hd_stream *s) { return !s->writer || s->ended || s->deaf || s->reset; }

bool hd_sock_ready(struct hd_file *f, bool write, uint64_t size) {
  struct hd_sock *s = f->sock;
  if (s->err) return true;
  if (s->type == SOCK_DGRAM) {
    if (!write) return f->in->len || f->in->deaf;
    return !f->out || !f->out->reader || hd_room(f->out) >= size + HD_PACKET_HEAD;
  }
  if (s->state != HD_SOCK_CONNECTED) return true;
  if (!write) return f->in->len || ended(f->in);
  if (!f->out->reader || f->out->ended || f->out->deaf) return true;
  return hd_room(f->out) >= (f->out->packets ? size + HD_PACKET_HEAD : 1);
}

static long packet_in(struct hd_stream *s, struct hd_msg *m) {
  uint64_t n = 0;
  bool peek = m->flags & MSG_PEEK;
  struct hd_packet head;
  hd_stream_look(s, &head, HD_PACKET_HEAD);
  n = head.n;
  m->from = head.from;
  m->full = n;
  struct hd_stream saved = *s;
  hd_stream_drop(s, HD_PACKET_HEAD);
  uint64_t k = n < m->size ? n : m->size;
  hd_stream_get(s, m, k, true);
  hd_stream_drop(s, n);
  if (peek) *s = saved;
  return (long)(m->flags & MSG_TRUNC ? n : k);
}

static void packet_out(struct hd_stream *s, struct hd_msg *m, const struct hd_addr *from) {
  struct hd_packet head = { *from, m->size };
  hd_stream_put_own(s, &head, HD_PACKET_HEAD);
  hd_stream_put(s, m, m->size);
}

static long datagram_out(struct hd_file *f, struct hd_msg *m) {
  struct hd_sock *s = f->sock;
  if (!f->out && !m->to && !s->peer.family) return s->domain == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
  if (m->size > 65507 && s->domain != AF_UNIX) return -EMSGSIZE;
  if (m->size + HD_PACKET_HEAD > BUFFER) return -EMSGSIZE;
  if (m->to && m->to->family != s->domain) return -EAFNOSUPPORT;
  hd_addr_bind_any(f);
  struct hd_file *d = destination(f, m->to);
  const struct hd_addr *to = m->to ? m->to : &s->peer;
  if (!d || !d->in) {
    if (s->domain == AF_UNIX) return f->out || hd_addr_known(to) ? -ECONNREFUSED : -ENOENT;
    if (!m->to) s->err = ECONNREFUSED; // what comes back shows at the next call
    return (long)m->size;
  }
  if (hd_room(d->in) < m->size + HD_PACKET_HEAD) return s->domain == AF_UNIX ? -EAGAIN : (long)m->size; // lost
  packet_out(d->in, m, &s->local);
  hd_became_readable(d);
  return (long)m->size;
}

long hd_sock_transfer(struct hd_file *f, bool write, struct hd_msg *m) {
  struct hd_sock *s = f->sock;
  if (m->flags & MSG_OOB) hd_unsupported("out-of-band data (MSG_OOB)");
  if (s->err) { long e = -s->err; s->err = 0; return e; }
  if (s->type == SOCK_DGRAM) {
    if (write) {
      if (s->mute) return -EPIPE;
      // The kernel makes a packet of the bytes before it sees that nobody takes them. That the packet
      // goes again is room that came, to an epoll set.
      if (f->out && (!f->out->reader || f->out->deaf)) hd_became_writable(f);
      if (f->out && f->out->reader && f->out->deaf) return -EPIPE;
      if (f->out && !f->out->reader && !m->to) { // told once; then it has no peer, and what that sent is gone
        f->out->used = false;
        f->out = NULL;
        hd_stream_drop(f->in, f->in->len);
        s->peer.family = 0;
        s->state = HD_SOCK_NEW;
        return -ECONNREFUSED;
      }
      return datagram_out(f, m);
    }
    if (!f->in->len) return f->in->deaf && !f->nonblock && !(m->flags & MSG_DONTWAIT) ? 0 : -EAGAIN;
    long n = packet_in(f->in, m);
    if (f->in->writer) hd_became_writable(f->in->writer);
    return n;
  }
  if (s->state != HD_SOCK_CONNECTED) return write ? (s->domain == AF_UNIX ? -ENOTCONN : -EPIPE) : s->state == HD_SOCK_LISTENING && s->domain == AF_UNIX ? -EINVAL : -ENOTCONN;
  struct hd_stream *x = write ? f->out : f->in;
  if (x->packets && f->in->reset) { f->in->reset = false; f->in->ended = true; return -ECONNRESET; } // before any data
  if (!write) {
    if (!x->len) {
      if (x->reset) { x->reset = false; x->ended = true; return -ECONNRESET; }
      return ended(x) ? 0 : -EAGAIN;
    }
    if (!m->size && !x->packets) return 0;
    long n;
    if (x->packets) n = packet_in(x, m);
    else {
      n = (long)(x->len < m->size - m->done ? x->len : m->size - m->done);
      bool drop = m->flags & MSG_TRUNC && s->domain != AF_UNIX; // TCP throws the bytes away
      if (drop) { hd_stream_drop(x, (uint64_t)n); m->done += (uint64_t)n; }
      else hd_stream_get(x, m, (uint64_t)n, m->flags & MSG_PEEK);
    }
    hd_became_writable(x->writer);
    return n;
  }
  if (!x->reader || x->ended || (x->deaf && s->domain == AF_UNIX)) return -EPIPE;
  if (x->deaf) { long n = (long)(m->size - m->done); m->done = m->size; return n; }
  if (x->packets) {
    if (m->size + HD_PACKET_HEAD > x->cap) return -EMSGSIZE;
    if (hd_room(x) < m->size + HD_PACKET_HEAD) return -EAGAIN;
    packet_out(x, m, &s->local);
    hd_became_readable(x->reader);
    return (long)m->size;
  }
  uint64_t n = m->size - m->done;
  if (!n) return 0;
  if (n > hd_room(x)) n = hd_room(x);
  if (!n) return -EAGAIN;
  hd_stream_put(x, m, n);
  hd_became_readable(x->reader);
  return (long)n;
}

short hd_sock_mask(struct hd_file *f) {
  struct hd_sock *s = f->sock;
  int mask = 0;
  if (s->err) mask |= POLLERR | POLLHUP | POLLIN | POLLOUT;
  if (s->type == SOCK_DGRAM) { // what the peer shuts down does not show
    bool mute = s->mute;
    return (short)(mask | (f->in->len ? POLLIN : 0) | (f->in->deaf ? POLLIN | POLLRDHUP : 0) | (f->in->deaf && mute ? POLLHUP : 0) |
                   (!f->out || hd_room(f->out) > HD_PACKET_HEAD ? POLLOUT : 0));
  }
  if (s->state == HD_SOCK_LISTENING) return (short)(mask | (s->nqueue ? POLLIN : 0));
  if (s->state == HD_SOCK_NEW) return (short)(mask | POLLHUP | POLLOUT);
  bool over = !f->in->writer || f->in->ended || f->in->deaf;
  bool mute = !f->out->reader || f->out->ended || (f->out->deaf && s->domain == AF_UNIX);
  if (f->in->len || ended(f->in)) mask |= POLLIN;
  if (over) mask |= POLLRDHUP | POLLIN;
  if (over && mute) mask |= POLLHUP;
  if (f->in->reset) mask |= POLLERR | POLLHUP;
  if (mute || f->out->deaf || hd_room(f->out) > (f->out->packets ? HD_PACKET_HEAD : 0)) mask |= POLLOUT;
  return (short)mask;
}

// ---- options
static long set_option(int fd, int level, int name, const void *value, socklen_t len) {
  long err = 0;
  struct hd_file *f = socket_of(fd, &err);
  if (!f) return err;
  struct hd_sock *s = f->sock;
  if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
    struct timeval tv;
    if (len < sizeof tv) return -EINVAL;
    hd_from_program(&tv, value, sizeof tv);
    if (tv.tv_usec < 0 || tv.tv_usec >= 1000000) return -EDOM;
    uint64_t ns = tv.tv_sec < 0 ? 0 : (uint64_t)tv.tv_sec * 1000000000ull + (uint64_t)tv.tv_usec * 1000;
    if (name == SO_RCVTIMEO) s->rcvtimeo = ns;
    else s->sndtimeo = ns;
    return 0;
  }
  if (level != SOL_SOCKET && s->domain == AF_UNIX) return -EOPNOTSUPP;
  if (level == SOL_SOCKET && name != SO_LINGER && len < sizeof(int)) return -EINVAL;
  uint32_t i = 0;
  while (i < s->nopts && (s->opts[i].level != level || s->opts[i].name != name)) i++;
  if (i == HD_SOCK_OPTS) hd_unsupported("more than 12 options of one socket");
  if (len > sizeof s->opts[i].value) hd_unsupported("a socket option of more than 16 bytes");
  if (i == s->nopts) s->nopts++;
  s->opts[i].level = level;
  s->opts[i].name = name;
  s->opts[i].len = len;
  hd_fill(s->opts[i].value, 0, sizeof s->opts[i].value);
  hd_from_program(s->opts[i].value, value, len);
  return 0;
}

static long get_option(int fd, int level, int name, void *value, socklen_t *len) {
  long err = 0;
  struct hd_file *f = socket_of(fd, &err);
  if (!f) return err;
  struct hd_sock *s = f->sock;
  socklen_t room, n = sizeof(int);
  hd_from_program(&room, len, sizeof room);
  char out[16] = { 0 };
  int v = 0;
  for (uint32_t i = 0; i < s->nopts; i++)
    if (s->opts[i].level == level && s->opts[i].name == name) {
      n = s->opts[i].len;
      hd_copy(out, s->opts[i].value, sizeof out);
      hd_copy(&v, out, sizeof v);
    }
  if (level == SOL_SOCKET) switch (name) {
    case SO_TYPE: v = s->type; break;
    case SO_DOMAIN: v = s->domain; break;
    case SO_PROTOCOL: v = s->domain == AF_UNIX ? 0 : s->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP; break;
    case SO_ERROR: v = s->err; s->err = 0; break;
    case SO_ACCEPTCONN: v = s->state == HD_SOCK_LISTENING; break;
    case SO_SNDBUF: case SO_RCVBUF: v = v ? v * 2 : BUFFER; break;
    case SO_LINGER: n = 8; break;
    case SO_RCVTIMEO: case SO_SNDTIMEO: {
      uint64_t ns = name == SO_RCVTIMEO ? s->rcvtimeo : s->sndtimeo;
      struct timeval tv = { (time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000) };
      hd_copy(out, &tv, sizeof tv);
      n = sizeof tv;
      break;
    }
    case SO_PEERCRED: hd_unsupported("SO_PEERCRED");
    }
  if (n == sizeof v) hd_copy(out, &v, sizeof v);
  if (room < n) n = room;
  hd_to_program(value, out, n);
  hd_to_program(len, &n, sizeof n);
  return 0;
}

static long get_name(int fd, struct sockaddr *sa, socklen_t *len, bool peer) {
  long err = 0;
  struct hd_file *f = socket_of(fd, &err);
  if (!f) return err;
  if (peer && (f->sock->state != HD_SOCK_CONNECTED || !f->sock->peer.family)) return -ENOTCONN;
  struct hd_addr none = { .family = f->sock->domain };
  if (none.family == AF_INET) none.ip[10] = none.ip[11] = 0xff;
  const struct hd_addr *a = peer ? &f->sock->peer : &f->sock->local;
  hd_addr_put(a->family ? a : &none, f->sock->domain, sa, len);
  return 0;
}

// ---- messages
static long send_to(int fd, const void *buf, size_t n, int flags, const struct sockaddr *sa, socklen_t len, uint64_t pc) {
  hd.cur->pend.pc = pc;
  long err = 0;
  struct hd_addr a;
  struct iovec v = { (void *)buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .flags = flags, .offset = -1 };
  if (!socket_of(fd, &err)) return err;
  if (sa && len) {
    int bad = hd_addr_get(sa, len, &a);
    if (bad) return bad;
    m.to = &a;
  }
  return hd_transfer(fd, true, &m, pc);
}

static long recv_from(int fd, void *buf, size_t n, int flags, struct sockaddr *sa, socklen_t *len, uint64_t pc) {
  hd.cur->pend.pc = pc;
  long err = 0;
  struct iovec v = { buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .flags = flags, .offset = -1 };
  struct hd_file *f = socket_of(fd, &err);
  if (!f) return err;
  int domain = f->sock->domain, type = f->sock->type;
  long r = hd_transfer(fd, false, &m, pc);
  if (r < 0 || !sa || !len) return r;
  if (type == SOCK_DGRAM) hd_addr_put(&m.from, domain, sa, len);
  else {
    socklen_t zero = 0;
    hd_to_program(len, &zero, sizeof zero);
  }
  return r;
}

static bool sum(struct hd_msg *m, const struct iovec *iov, uint64_t n, uint64_t pc) {
  m->iov = iov;
  m->niov = n;
  if (n > 1024) return false;
  if (n) hd_touch(iov, n * sizeof *iov, pc);
  for (uint64_t i = 0; i < n; i++) m->size += iov[i].iov_len;
  return true;
}

static long send_msg(int fd, const struct msghdr *h, int flags, uint64_t pc) {
  long err = 0;
  struct hd_addr a;
  hd_touch(h, sizeof *h, pc);
  struct hd_msg m = { .flags = flags, .offset = -1 };
  if (!socket_of(fd, &err)) return err;
  if (h->msg_controllen) hd_unsupported("control messages on a socket (descriptors or credentials passed with sendmsg)");
  if (!sum(&m, h->msg_iov, h->msg_iovlen, pc)) return -EMSGSIZE;
  if (h->msg_name && h->msg_namelen) {
    int bad = hd_addr_get(h->msg_name, h->msg_namelen, &a);
    if (bad) return bad;
    m.to = &a;
  }
  return hd_transfer(fd, true, &m, pc);
}

static long recv_msg(int fd, struct msghdr *h, int flags, uint64_t pc) {
  long err = 0;
  hd_refresh(h, sizeof *h, pc);
  struct hd_msg m = { .flags = flags, .offset = -1 };
  struct hd_file *f = socket_of(fd, &err);
  if (!f) return err;
  if (!sum(&m, h->msg_iov, h->msg_iovlen, pc)) return -EMSGSIZE;
  int domain = f->sock->domain, type = f->sock->type;
  long r = hd_transfer(fd, false, &m, pc);
  if (r < 0) return r;
  if (h->msg_name && type == SOCK_DGRAM) hd_addr_put(&m.from, domain, h->msg_name, &h->msg_namelen);
  else h->msg_namelen = 0;
  h->msg_controllen = 0;
  h->msg_flags = type != SOCK_STREAM && m.full > m.size ? MSG_TRUNC : 0;
  return r;
}

#define RETURN(x) return hd_errno_result(x)
HD_EXPORT int socket(int domain, int type, int protocol) {
  if (!hd_active()) return REAL(socket)(domain, type, protocol);
  RETURN((int)new_socket(domain, type, protocol, HD_RA));
}
HD_EXPORT int socketpair(int domain, int type, int protocol, int out[2]) {
  if (!hd_active()) return REAL(socketpair)(domain, type, protocol, out);
  RETURN((int)new_pair(domain, type, protocol, out, HD_RA));
}
HD_EXPORT int bind(int fd, const struct sockaddr *sa, socklen_t len) {
  if (!hd_active()) return REAL(bind)(fd, sa, len);
  RETURN((int)do_bind(fd, sa, len, HD_RA));
}
HD_EXPORT int listen(int fd, int backlog) {
  if (!hd_active()) return REAL(listen)(fd, backlog);
  RETURN((int)do_listen(fd, backlog, HD_RA));
}
HD_EXPORT int connect(int fd, const struct sockaddr *sa, socklen_t len) {
  if (!hd_active()) return REAL(connect)(fd, sa, len);
  RETURN((int)do_connect(fd, sa, len, HD_RA));
}
HD_EXPORT int accept(int fd, struct sockaddr *sa, socklen_t *len) {
  if (!hd_active()) return REAL(accept)(fd, sa, len);
  RETURN((int)do_accept(fd, sa, len, 0, HD_RA));
}
HD_EXPORT int accept4(int fd, struct sockaddr *sa, socklen_t *len, int flags) {
  if (!hd_active()) return REAL(accept4)(fd, sa, len, flags);
  RETURN((int)do_accept(fd, sa, len, flags, HD_RA));
}
HD_EXPORT int shutdown(int fd, int how) {
  if (!hd_active()) return REAL(shutdown)(fd, how);
  RETURN((int)do_shutdown(fd, how, HD_RA));
}
HD_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len) {
  if (!hd_active()) return REAL(setsockopt)(fd, level, name, value, len);
  hd.cur->pend.pc = HD_RA;
  RETURN((int)set_option(fd, level, name, value, len));
}
HD_EXPORT int getsockopt(int fd, int level, int name, void *value, socklen_t *len) {
  if (!hd_active()) return REAL(getsockopt)(fd, level, name, value, len);
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_option(fd, level, name, value, len));
}
HD_EXPORT int getsockname(int fd, struct sockaddr *sa, socklen_t *len) {
  if (!hd_active()) return REAL(getsockname)(fd, sa, len);
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_name(fd, sa, len, false));
}
HD_EXPORT int getpeername(int fd, struct sockaddr *sa, socklen_t *len) {
  if (!hd_active()) return REAL(getpeername)(fd, sa, len);
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_name(fd, sa, len, true));
}
HD_EXPORT ssize_t send(int fd, const void *buf, size_t n, int flags) {
  if (!hd_active()) return REAL(send)(fd, buf, n, flags);
  RETURN(send_to(fd, buf, n, flags, NULL, 0, HD_RA));
}
HD_EXPORT ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *sa, socklen_t len) {
  if (!hd_active()) return REAL(sendto)(fd, buf, n, flags, sa, len);
  RETURN(send_to(fd, buf, n, flags, sa, len, HD_RA));
}
HD_EXPORT ssize_t recv(int fd, void *buf, size_t n, int flags) {
  if (!hd_active()) return REAL(recv)(fd, buf, n, flags);
  RETURN(recv_from(fd, buf, n, flags, NULL, NULL, HD_RA));
}
HD_EXPORT ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *sa, socklen_t *len) {
  if (!hd_active()) return REAL(recvfrom)(fd, buf, n, flags, sa, len);
  RETURN(recv_from(fd, buf, n, flags, sa, len, HD_RA));
}
HD_EXPORT ssize_t sendmsg(int fd, const struct msghdr *h, int flags) {
  if (!hd_active()) return REAL(sendmsg)(fd, h, flags);
  RETURN(send_msg(fd, h, flags, HD_RA));
}
HD_EXPORT ssize_t recvmsg(int fd, struct msghdr *h, int flags) {
  if (!hd_active()) return REAL(recvmsg)(fd, h, flags);
  RETURN(recv_msg(fd, h, flags, HD_RA));
}
