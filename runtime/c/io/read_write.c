// read_write.c: read, write and their family.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/program_memory.h"
#include "io/stream.h"

static long one(int fd, bool write, const void *buf, size_t n, long offset, uint64_t pc) {
  struct iovec v = { (void *)buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .plain = true, .offset = offset };
  return hd_errno_result(hd_transfer(fd, write, &m, pc));
}

static long many(int fd, bool write, const struct iovec *iov, int n, long offset, int flags, uint64_t pc) {
  struct hd_msg m = { .iov = iov, .plain = true, .offset = offset, .rwf = flags };
  if (n < 0 || n > 1024) return hd_errno_result(-EINVAL);
  m.niov = (uint64_t)n;
  if (n) hd_touch(iov, (uint64_t)n * sizeof *iov, pc);
  for (int i = 0; i < n; i++) m.size += iov[i].iov_len;
  return hd_errno_result(hd_transfer(fd, write, &m, pc));
}

static long at(int fd, bool write, const void *buf, size_t n, off_t offset, uint64_t pc) {
  if (offset < 0) return hd_errno_result(-EINVAL);
  return one(fd, write, buf, n, offset, pc);
}
static long many_at(int fd, bool write, const struct iovec *iov, int n, off_t offset, uint64_t pc) {
  if (offset < 0) return hd_errno_result(-EINVAL);
  return many(fd, write, iov, n, offset, 0, pc);
}

HD_INTERPOSE(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n)) { return one(fd, false, buf, n, -1, HD_RA); }
HD_INTERPOSE(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n)) { return one(fd, true, buf, n, -1, HD_RA); }
HD_EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room) {
  if (n > room) abort();
  return hd_active() ? one(fd, false, buf, n, -1, HD_RA) : REAL(read)(fd, buf, n);
}
HD_INTERPOSE(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n)) { return many(fd, false, v, n, -1, 0, HD_RA); }
HD_INTERPOSE(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n)) { return many(fd, true, v, n, -1, 0, HD_RA); }
HD_INTERPOSE(ssize_t, pread, (int fd, void *buf, size_t n, off_t o), (fd, buf, n, o)) { return at(fd, false, buf, n, o, HD_RA); }
HD_INTERPOSE(ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t o), (fd, buf, n, o)) { return at(fd, true, buf, n, o, HD_RA); }
HD_INTERPOSE(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t o), (fd, v, n, o)) { return many_at(fd, false, v, n, o, HD_RA); }
HD_INTERPOSE(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t o), (fd, v, n, o)) { return many_at(fd, true, v, n, o, HD_RA); }
HD_INTERPOSE(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t o, int flags), (fd, v, n, o, flags)) {
  return many(fd, false, v, n, o < 0 ? -1 : o, flags, HD_RA);
}
HD_INTERPOSE(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t o, int flags), (fd, v, n, o, flags)) {
  return many(fd, true, v, n, o < 0 ? -1 : o, flags, HD_RA);
}
HD_EXPORT ssize_t __pread_chk(int fd, void *buf, size_t n, off_t o, size_t room) {
  if (n > room) abort();
  return hd_active() ? at(fd, false, buf, n, o, HD_RA) : REAL(pread)(fd, buf, n, o);
}
HD_EXPORT ssize_t __pread64_chk(int, void *, size_t, off_t, size_t) __attribute__((alias("__pread_chk")));
HD_EXPORT ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));
HD_EXPORT ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
HD_EXPORT ssize_t preadv64(int, const struct iovec *, int, off_t) __attribute__((alias("preadv")));
HD_EXPORT ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));
HD_EXPORT ssize_t preadv64v2(int, const struct iovec *, int, off_t, int) __attribute__((alias("preadv2")));
HD_EXPORT ssize_t pwritev64v2(int, const struct iovec *, int, off_t, int) __attribute__((alias("pwritev2")));
