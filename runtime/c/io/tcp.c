// tcp.c: TCP connections: how an end learns that the other sends no more, was closed or reset the
// connection. The rules are Linux's (net/ipv4/af_inet.c, tcp.c and tcp_input.c); segments arrive
// at once. The peer of a closed end knows only that it sends no more, until it sends something
// itself and receives a reset.
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include "io/descriptors.h"
#include "io/socket.h"
#include "io/stream.h"

static bool connected(const struct hd_file *f) { return f->sock->state == HD_SOCK_CONNECTED && !f->sock->closed; }

static void over(struct hd_file *f) {
  f->sock->closed = true;
  f->sock->shut = HD_SHUT_BOTH;
  hd_ended(f);
}

static void receive_reset(struct hd_file *f) {
  if (!f || !connected(f)) return;
  f->sock->err = f->sock->fin ? EPIPE : ECONNRESET;
  over(f);
}

static void send_fin(struct hd_file *f) {
  struct hd_file *to = f->out->reader;
  bool both = f->sock->fin;
  if (both) over(f);
  if (!to) return;
  to->sock->fin = true;
  to->sock->shut |= HD_SHUT_RECEIVE;
  if (both) over(to);
  else hd_ended(to);
}

static long take_error(struct hd_sock *s) {
  long e = s->err;
  s->err = 0;
  return -e;
}

bool hd_tcp_ready(const struct hd_file *f, bool write) {
  const struct hd_sock *s = f->sock;
  if (s->err || !connected(f)) return true;
  if (write) return s->shut & HD_SHUT_SEND || hd_room(f->out);
  return f->in->len || s->fin || s->shut & HD_SHUT_RECEIVE;
}

static long receive(struct hd_file *f, struct hd_msg *m) {
  struct hd_sock *s = f->sock;
  struct hd_stream *x = f->in;
  if (s->state == HD_SOCK_LISTENING) return -ENOTCONN;
  if (x && x->len) {
    uint64_t n = m->size - m->done;
    if (n > x->len) n = x->len;
    bool full = !hd_room(x);
    if (m->flags & MSG_TRUNC) { // the bytes are discarded
      if (!(m->flags & MSG_PEEK)) hd_stream_drop(x, n);
      m->done += n;
    } else {
      hd_stream_get(x, m, n, m->flags & MSG_PEEK);
    }
    if (full && hd_room(x)) hd_became_writable(x->writer);
    return (long)n;
  }
  if (s->fin) return 0;
  if (s->err) return take_error(s);
  if (s->shut & HD_SHUT_RECEIVE) return 0;
  return connected(f) ? -EAGAIN : -ENOTCONN;
}

static long transmit(struct hd_file *f, struct hd_msg *m) {
  struct hd_sock *s = f->sock;
  struct hd_stream *x = f->out;
  if (s->err) return take_error(s);
  if (s->shut & HD_SHUT_SEND || !connected(f)) return -EPIPE;
  uint64_t n = m->size - m->done;
  if (!n) return 0;
  struct hd_file *to = x->reader;
  if (!to || to->sock->shut == HD_SHUT_BOTH) { // no reader is left
    receive_reset(to);
    receive_reset(f);
    m->done = m->size;
    return (long)n;
  }
  if (n > hd_room(x)) n = hd_room(x);
  if (!n) return -EAGAIN;
  hd_stream_put(x, m, n);
  hd_became_readable(to);
  return (long)n;
}

long hd_tcp_transfer(struct hd_file *f, bool write, struct hd_msg *m) {
  return write ? transmit(f, m) : receive(f, m);
}

short hd_tcp_mask(const struct hd_file *f) {
  const struct hd_sock *s = f->sock;
  if (s->state == HD_SOCK_LISTENING) return s->nqueue ? POLLIN | POLLRDNORM : 0;
  int mask = 0;
  if (s->shut == HD_SHUT_BOTH || !connected(f)) mask |= POLLHUP;
  if (s->shut & HD_SHUT_RECEIVE) mask |= POLLIN | POLLRDNORM | POLLRDHUP;
  if (f->in && f->in->len) mask |= POLLIN | POLLRDNORM;
  if (s->shut & HD_SHUT_SEND || !f->out || hd_room(f->out)) mask |= POLLOUT | POLLWRNORM;
  if (s->err) mask |= POLLERR;
  return (short)mask;
}

static void abort_connection(struct hd_file *f) {
  if (!connected(f)) return;
  receive_reset(f->out->reader);
  over(f);
}

void hd_tcp_abort_queue(struct hd_file *f) {
  struct hd_sock *s = f->sock;
  for (uint32_t i = 0; i < s->nqueue; i++) {
    abort_connection(s->queue[i]);
    hd_file_release(s->queue[i]);
  }
  s->nqueue = 0;
}

// A connection inherits the shutdown of a socket that was shut down before it listened.
void hd_tcp_inherit(struct hd_file *f, const struct hd_file *listener) {
  f->sock->shut = listener->sock->shut;
  if (f->sock->shut & HD_SHUT_SEND) send_fin(f);
}

void hd_tcp_disconnect(struct hd_file *f) {
  struct hd_sock *s = f->sock;
  hd_tcp_abort_queue(f);
  if (connected(f)) s->err = ECONNRESET;
  abort_connection(f);
  hd_streams_leave(f);
  s->state = HD_SOCK_NEW;
  s->shut = 0;
  s->fin = s->closed = s->unconfirmed = s->spent = false;
  hd_ended(f);
}

long hd_tcp_shutdown(struct hd_file *f, int how) {
  struct hd_sock *s = f->sock;
  int shut = how + 1;
  hd_ended(f);
  if (s->state == HD_SOCK_LISTENING) { // accept gets EINVAL from now on
    if (shut & HD_SHUT_RECEIVE) hd_tcp_disconnect(f);
    return 0;
  }
  bool was = connected(f);
  if (s->unconfirmed) {
    s->unconfirmed = false;
    s->spent = !was;
  }
  bool fin = was && shut & HD_SHUT_SEND && !(s->shut & HD_SHUT_SEND);
  s->shut |= (uint8_t)shut; // of a socket without a connection, too
  if (fin) send_fin(f);
  return was ? 0 : -ENOTCONN;
}

void hd_tcp_closed(struct hd_file *f) {
  struct hd_sock *s = f->sock;
  hd_tcp_abort_queue(f);
  if (!connected(f)) return;
  if (f->in->len || hd_sock_aborts(s)) abort_connection(f);
  else if (!(s->shut & HD_SHUT_SEND)) send_fin(f);
}
