// random.c: random numbers, and the devices that give them. The kernel's would make executions differ. So
// a thread draws from a sequence of its own, which never ends, whether it calls getrandom, reads a
// descriptor or reads a stream. Which descriptors lead to a device is looked up when one is read, since
// they are duplicated and inherited, and only once a device has been opened.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/run.h"
#include "io/random.h"

static bool opened; // a descriptor of this process may lead to a device

uint64_t hd_random_word(void) {
  static uint64_t early; // words drawn before main
  if (HD_UNLIKELY(!hd_active())) return hd_mix(0x6561726c79ull, ++early);
  struct hd_thread *t = hd.cur;
  return hd_mix(t->name, 0x100000000ull + ++t->nrandom);
}

HD_PROGACCESS void hd_random_fill(void *to, uint64_t n) {
  for (char *p = to; n;) {
    uint64_t w = hd_random_word(), k = n < 8 ? n : 8;
    hd_copy(p, &w, k);
    p += k;
    n -= k;
  }
}

bool hd_random_device(const struct stat *st) {
  enum { RANDOM = 8, URANDOM = 9, MEMORY_DEVICES = 1 << 8 };
  bool device = S_ISCHR(st->st_mode) && (st->st_rdev == (MEMORY_DEVICES | RANDOM) || st->st_rdev == (MEMORY_DEVICES | URANDOM));
  opened |= device;
  return device;
}

bool hd_random_readable(int fd) {
  struct stat st;
  if (HD_LIKELY(!opened) || hd_sys(SYS_fstat, fd, &st, 0) != 0 || !hd_random_device(&st)) return false;
  long flags = hd_sys(SYS_fcntl, fd, F_GETFL, 0);
  return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY;
}

long hd_random_read(struct hd_msg *m) {
  uint64_t part[32];
  for (uint64_t left = m->size, k; left; left -= k) {
    k = left < sizeof part ? left : sizeof part;
    for (uint32_t i = 0; i * 8 < k; i++) part[i] = hd_random_word();
    hd_scatter(m, part, k);
  }
  return (long)m->size;
}

// ---- streams
//
// libc would fill a stream's buffer past the runtime, so the stream comes from fopencookie. Reading it is not a
// scheduling point, as with any other file.
static ssize_t cookie_read(void *fd, char *buf, size_t n) {
  if (!hd_active()) return hd_errno_result(hd_sys(SYS_read, (long)fd, buf, (long)n));
  hd_random_fill(buf, n);
  return (ssize_t)n;
}
static ssize_t cookie_write(void *fd, const char *buf, size_t n) { return hd_errno_result(hd_sys(SYS_write, (long)fd, (long)buf, (long)n)); }
static int cookie_seek(void *fd, off64_t *at, int whence) {
  long r = hd_sys(SYS_lseek, (long)fd, *at, whence);
  if (r >= 0) *at = r;
  return (int)hd_errno_result(r < 0 ? r : 0);
}
static int cookie_close(void *fd) { return (int)hd_errno_result(hd_sys(SYS_close, (long)fd, 0, 0)); }

void *hd_random_stream(int fd, const char *mode) {
  FILE *f = REAL(fopencookie)((void *)(long)fd, mode, (cookie_io_functions_t){ cookie_read, cookie_write, cookie_seek, cookie_close });
  if (f) f->_fileno = fd;
  return f;
}
