// sendfile.c: sendfile and copy_file_range, as reads of the file and writes to the other descriptor: two events for
// each part, between which other threads may run, as they may while the kernel copies.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "memory/heap.h"
#include "io/descriptors.h"
#include "io/stream.h"

enum { PIECE = 65536, MOST = 0x7ffff000 };

static long piece(int fd, bool write, void *buf, uint64_t n, long offset, uint64_t pc) {
  struct iovec v = { buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .offset = offset };
  return hd_transfer(fd, write, &m, pc);
}

// Copies up to n bytes; to -1: at the descriptor's position. Returns how many, or -errno.
static long pieces(int in, off_t from, int out, off_t to, size_t n, uint64_t pc) {
  char *buf = hd_alloc_own(n < PIECE ? n ? n : 1 : PIECE, pc);
  if (!buf) return -ENOMEM;
  long done = 0, err = 0;
  while ((size_t)done < n) {
    long k = piece(in, false, buf, n - (size_t)done < PIECE ? n - (size_t)done : PIECE, from + done, pc);
    long w = k > 0 ? piece(out, true, buf, (uint64_t)k, to < 0 ? -1 : to + done, pc) : k;
    if (w < 0) err = w;
    if (w <= 0) break;
    done += w;
    if (w < k) break;
  }
  hd_release(buf, pc);
  return done ? done : err;
}

static long copy(int out, int in, off_t *offset, size_t n, uint64_t pc) {
  struct stat st;
  off_t at = 0;
  hd.cur->pend.pc = pc;
  if (hd_file_of(in)) hd_unsupported("sendfile from a pipe, a socket or the like: read and write instead");
  if (hd_reserved_fd(in) || hd_sys(SYS_fstat, in, &st, 0) < 0) return -EBADF;
  long flags = hd_reserved_fd(out) ? -EBADF : hd_sys(SYS_fcntl, out, F_GETFL, 0);
  if (flags < 0) return -EBADF;
  if (!S_ISREG(st.st_mode) || flags & O_APPEND) return -EINVAL;
  if (offset) hd_from_program(&at, offset, sizeof at);
  else at = hd_sys(SYS_lseek, in, 0, SEEK_CUR);
  if (at < 0) return offset ? -EINVAL : at;
  if (n > MOST) n = MOST;
  long done = pieces(in, at, out, -1, n, pc);
  if (done > 0) at += done;
  if (offset) hd_to_program(offset, &at, sizeof at);
  else if (done > 0) hd_sys(SYS_lseek, in, at, SEEK_SET);
  return done;
}

HD_INTERPOSE(ssize_t, sendfile, (int out, int in, off_t *offset, size_t n), (out, in, offset, n)) {
  return hd_errno_result(copy(out, in, offset, n, HD_RA));
}
HD_EXPORT ssize_t sendfile64(int, int, off_t *, size_t) __attribute__((alias("sendfile")));

// ---- copy_file_range
struct end { int fd; off_t *offset; off_t at; struct stat st; };

static long look(struct end *e, int access) {
  if (hd_file_of(e->fd)) return -EINVAL;
  long flags = hd_reserved_fd(e->fd) ? -EBADF : hd_sys(SYS_fcntl, e->fd, F_GETFL, 0);
  if (flags < 0 || hd_sys(SYS_fstat, e->fd, &e->st, 0) < 0) return -EBADF;
  bool may = (flags & O_ACCMODE) == O_RDWR || (flags & O_ACCMODE) == access;
  if (S_ISDIR(e->st.st_mode)) return -EISDIR;
  if (!S_ISREG(e->st.st_mode)) return -EINVAL;
  if (!may || flags & O_PATH || (access == O_WRONLY && flags & O_APPEND)) return -EBADF;
  if (e->offset) hd_from_program(&e->at, e->offset, sizeof e->at);
  else e->at = hd_sys(SYS_lseek, e->fd, 0, SEEK_CUR);
  return e->at < 0 ? -EINVAL : 0;
}

static void moved(struct end *e, long n) {
  e->at += n;
  if (e->offset) hd_to_program(e->offset, &e->at, sizeof e->at);
  else hd_sys(SYS_lseek, e->fd, e->at, SEEK_SET);
}

static long copy_range(struct end in, struct end out, size_t n, unsigned flags, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (flags) return -EINVAL;
  long err = look(&in, O_RDONLY);
  if (!err) err = look(&out, O_WRONLY);
  if (err) return err;
  if (n > MOST) n = MOST;
  if ((uint64_t)in.at + n > INT64_MAX || (uint64_t)out.at + n > INT64_MAX) return -EOVERFLOW;
  if (in.at >= in.st.st_size) return 0;
  if (n > (uint64_t)(in.st.st_size - in.at)) n = (size_t)(in.st.st_size - in.at);
  bool same = in.st.st_dev == out.st.st_dev && in.st.st_ino == out.st.st_ino;
  if (same && in.at < out.at + (off_t)n && out.at < in.at + (off_t)n) return -EINVAL;
  long done = n ? pieces(in.fd, in.at, out.fd, out.at, n, pc) : 0;
  if (done > 0) {
    moved(&in, done);
    moved(&out, done);
  }
  return done;
}

HD_INTERPOSE(ssize_t, copy_file_range, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags), (in, from, out, to, n, flags)) {
  return hd_errno_result(copy_range((struct end){ .fd = in, .offset = from }, (struct end){ .fd = out, .offset = to }, n, flags, HD_RA));
}
