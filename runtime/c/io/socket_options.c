// socket_options.c: options of sockets: those that have an effect here, and those that are only stored.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sys/time.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "memory/shared_state.h"
#include "io/descriptors.h"
#include "io/socket.h"

bool hd_sock_flag(const struct hd_sock *s, int level, int name) {
  for (uint32_t i = 0; i < s->nopts; i++)
    if (s->opts[i].level == level && s->opts[i].name == name) return s->opts[i].value[0] != 0;
  return false;
}

bool hd_sock_aborts(const struct hd_sock *s) {
  struct linger l;
  for (uint32_t i = 0; i < s->nopts; i++)
    if (s->opts[i].level == SOL_SOCKET && s->opts[i].name == SO_LINGER) {
      hd_copy(&l, s->opts[i].value, sizeof l);
      return l.l_onoff && !l.l_linger;
    }
  return false;
}

static int take_error(struct hd_file *f) {
  int err = f->sock->err;
  f->sock->err = 0;
  if (f->sock->domain == AF_UNIX && f->in && f->in->reset) {
    f->in->reset = false;
    f->in->ended = true;
    err = ECONNRESET;
  }
  return err;
}

static long set_option(int fd, int level, int name, const void *value, socklen_t len) {
  long err = 0;
  struct hd_file *f = hd_socket_of(fd, &err);
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
  struct hd_file *f = hd_socket_of(fd, &err);
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
    case SO_ERROR: v = take_error(f); break;
    case SO_ACCEPTCONN: v = s->state == HD_SOCK_LISTENING; break;
    case SO_SNDBUF: case SO_RCVBUF: v = v ? v * 2 : HD_SOCK_BUFFER; break;
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

#define RETURN(x) return hd_errno_result(x)
HD_INTERPOSE(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len), (fd, level, name, value, len)) {
  hd.cur->pend.pc = HD_RA;
  hd_unordered(HD_SHARED_PROCESS);
  RETURN((int)set_option(fd, level, name, value, len));
}
HD_INTERPOSE(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len), (fd, level, name, value, len)) {
  hd.cur->pend.pc = HD_RA;
  RETURN((int)get_option(fd, level, name, value, len));
}
