// socket_data.c: data through sockets, and what poll reports of them.
#define _GNU_SOURCE
#include <errno.h>
#include "core/outcome.h"
#include "io/descriptors.h"
#include "io/socket.h"
#include "io/stream.h"

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
  if (hd_is_tcp(f)) return hd_tcp_ready(f, write);
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
  if (m->size + HD_PACKET_HEAD > HD_SOCK_BUFFER) return -EMSGSIZE;
  if (m->to && m->to->family != s->domain) return -EAFNOSUPPORT;
  hd_addr_bind_any(f);
  struct hd_file *d = destination(f, m->to);
  const struct hd_addr *to = m->to ? m->to : &s->peer;
  if (!d || !d->in) {
    if (s->domain == AF_UNIX) return f->out || hd_addr_known(to) ? -ECONNREFUSED : -ENOENT;
    if (!m->to) s->err = ECONNREFUSED; // the error shows at the next call
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
  if (hd_is_tcp(f)) return hd_tcp_transfer(f, write, m);
  if (s->err) { long e = -s->err; s->err = 0; return e; }
  if (s->type == SOCK_DGRAM) {
    if (write) {
      if (s->mute) return -EPIPE;
      // The kernel builds a packet before it finds that it has no receiver. Freeing the packet counts as
      // space for an epoll set.
      if (f->out && (!f->out->reader || f->out->deaf)) hd_became_writable(f);
      if (f->out && f->out->reader && f->out->deaf) return -EPIPE;
      if (f->out && !f->out->reader && !m->to) { // reported once; then it has no peer, and the peer's data is dropped
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
  if (s->state != HD_SOCK_CONNECTED) return write || s->type == SOCK_SEQPACKET ? -ENOTCONN : -EINVAL;
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
      hd_stream_get(x, m, (uint64_t)n, m->flags & MSG_PEEK);
    }
    hd_became_writable(x->writer);
    return n;
  }
  if (!x->reader || x->ended || x->deaf) return -EPIPE;
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

static int mask_of(struct hd_file *f) {
  struct hd_sock *s = f->sock;
  int mask = 0;
  if (s->err) mask |= POLLERR | POLLHUP | POLLIN | POLLOUT;
  if (s->type == SOCK_DGRAM) { // a shutdown by the peer does not show
    bool mute = s->mute;
    return mask | (f->in->len ? POLLIN : 0) | (f->in->deaf ? POLLIN | POLLRDHUP : 0) | (f->in->deaf && mute ? POLLHUP : 0) |
           (!f->out || hd_room(f->out) > HD_PACKET_HEAD ? POLLOUT : 0);
  }
  if (s->state != HD_SOCK_CONNECTED) {
    if (s->shut & HD_SHUT_RECEIVE) mask |= POLLIN | POLLRDHUP;
    if (s->shut == HD_SHUT_BOTH) mask |= POLLHUP;
    if (s->state == HD_SOCK_LISTENING) return mask | (s->nqueue ? POLLIN : 0);
    return mask | POLLHUP | POLLOUT;
  }
  bool over = !f->in->writer || f->in->ended || f->in->deaf;
  bool mute = !f->out->reader || f->out->ended || f->out->deaf;
  if (f->in->len || ended(f->in)) mask |= POLLIN;
  if (over) mask |= POLLRDHUP | POLLIN;
  if (over && mute) mask |= POLLHUP;
  if (f->in->reset) mask |= POLLERR | POLLHUP;
  if (mute || hd_room(f->out) > (f->out->packets ? HD_PACKET_HEAD : 0)) mask |= POLLOUT;
  return mask;
}

short hd_sock_mask(struct hd_file *f) {
  if (hd_is_tcp(f)) return hd_tcp_mask(f);
  int mask = mask_of(f);
  if (mask & POLLIN) mask |= POLLRDNORM;
  if (mask & POLLOUT) mask |= POLLWRNORM | POLLWRBAND;
  return (short)mask;
}

