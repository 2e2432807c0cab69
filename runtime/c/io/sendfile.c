// sendfile.c: sendfile, as reads of the file and writes to the other descriptor: two events for
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
  char *buf = hd_alloc_own(n < PIECE ? n ? n : 1 : PIECE, pc);
  if (!buf) return -ENOMEM;
  uint64_t done = 0;
  long err = 0;
  while (done < n) {
    long k = piece(in, false, buf, n - done < PIECE ? n - done : PIECE, at + (long)done, pc);
    long w = k > 0 ? piece(out, true, buf, (uint64_t)k, -1, pc) : k;
    if (w < 0) err = w;
    if (w <= 0) break;
    done += (uint64_t)w;
    if (w < k) break;
  }
  hd_release(buf, pc);
  at += (off_t)done;
  if (offset) hd_to_program(offset, &at, sizeof at);
  else if (done) hd_sys(SYS_lseek, in, at, SEEK_SET);
  return done ? (long)done : err;
}

HD_INTERPOSE(ssize_t, sendfile, (int out, int in, off_t *offset, size_t n), (out, in, offset, n)) {
  return hd_errno_result(copy(out, in, offset, n, HD_RA));
}
HD_EXPORT ssize_t sendfile64(int, int, off_t *, size_t) __attribute__((alias("sendfile")));
