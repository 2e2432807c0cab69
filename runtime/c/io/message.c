// message.c: send, recv and their family, on sockets.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "io/descriptors.h"
#include "io/socket.h"
#include "io/stream.h"

static long send_to(int fd, const void *buf, size_t n, int flags, const struct sockaddr *sa, socklen_t len, uint64_t pc) {
  hd.cur->pend.pc = pc;
  long err = 0;
  struct hd_addr a;
  struct iovec v = { (void *)buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .flags = flags, .offset = -1 };
  if (!hd_socket_of(fd, &err)) return err;
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
  struct hd_file *f = hd_socket_of(fd, &err);
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
  if (!hd_socket_of(fd, &err)) return err;
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
  struct hd_file *f = hd_socket_of(fd, &err);
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
HD_INTERPOSE(ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags)) {
  RETURN(send_to(fd, buf, n, flags, NULL, 0, HD_RA));
}
HD_INTERPOSE(ssize_t, sendto, (int fd, const void *buf, size_t n, int flags, const struct sockaddr *sa, socklen_t len), (fd, buf, n, flags, sa, len)) {
  RETURN(send_to(fd, buf, n, flags, sa, len, HD_RA));
}
HD_INTERPOSE(ssize_t, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags)) {
  RETURN(recv_from(fd, buf, n, flags, NULL, NULL, HD_RA));
}
HD_INTERPOSE(ssize_t, recvfrom, (int fd, void *buf, size_t n, int flags, struct sockaddr *sa, socklen_t *len), (fd, buf, n, flags, sa, len)) {
  RETURN(recv_from(fd, buf, n, flags, sa, len, HD_RA));
}
HD_EXPORT ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags) {
  if (n > room) abort();
  if (!hd_active()) return REAL(recv)(fd, buf, n, flags);
  RETURN(recv_from(fd, buf, n, flags, NULL, NULL, HD_RA));
}
HD_EXPORT ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *sa, socklen_t *len) {
  if (n > room) abort();
  if (!hd_active()) return REAL(recvfrom)(fd, buf, n, flags, sa, len);
  RETURN(recv_from(fd, buf, n, flags, sa, len, HD_RA));
}
HD_INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *h, int flags), (fd, h, flags)) {
  RETURN(send_msg(fd, h, flags, HD_RA));
}
HD_INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *h, int flags), (fd, h, flags)) {
  RETURN(recv_msg(fd, h, flags, HD_RA));
}
