// files.c: opening files, the working directory, and a process's other state for files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/shared_state.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/random.h"
#include "io/stdio.h"
#include "files/files.h"

static bool moved;             // the working directory may have changed
static unsigned mask_at_main;
static bool mask_changed;


// ---- opening
static long open_now(int dir, const char *path, int flags, unsigned mode) {
  struct stat st;
  bool there = !(flags & O_PATH) && hd_sys4(SYS_newfstatat, dir, path, &st, 0) == 0;
  if (there && hd_random_device(&st)) return hd_sys4(SYS_openat, dir, path, flags, mode);
  if (there && !(flags & O_NONBLOCK) && S_ISFIFO(st.st_mode)) {
    // Opening would block the carrier until another process opens the other end.
    long fd = hd_sys4(SYS_openat, dir, path, flags | O_NONBLOCK, mode);
    if (fd == -ENXIO) hd_unsupported("open for writing of a FIFO that has no reader");
    if (fd >= 0) hd_sys(SYS_fcntl, fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
  }
  hd_undo_open(dir, path, flags);
  long fd = hd_sys4(SYS_openat, dir, path, flags, mode);
  hd_undo_opened(fd);
  if (fd >= 0 && (flags & O_TMPFILE) == O_TMPFILE && hd_sys(SYS_fstat, fd, &st, 0) == 0) hd_inode_made(&st);
  return fd;
}

static enum hd_proc_use use_of(int flags) {
  return flags & O_PATH ? HD_PROC_LOOK : (flags & O_ACCMODE) == O_RDONLY && !(flags & O_TRUNC) ? HD_PROC_READ : HD_PROC_WRITE;
}

int hd_open_at(int dir, const char *user, int flags, unsigned mode, uint64_t pc) {
  hd_fd_opened();
  char path[4096];
  if (!hd_active()) return (int)hd_errno_result(hd_sys4(SYS_openat, dir, hd_in_proc_of_child(path, user), flags, mode));
  hd.cur->pend.pc = pc;
  if (!hd_fetch_string(path, user, sizeof path)) return (int)hd_errno_result(-ENAMETOOLONG);
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  char kernels[HD_PATH];
  long fd = open_now(dir, hd_in_proc(kernels, path, use_of(flags)), flags, mode);
  if (fd < 0) return (int)hd_errno_result(hd_io_done(t, 0, -fd));
  hd_proc_opened(fd);
  t->pend.obj = hd_kernel_object((int)fd);
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  return (int)fd;
}
#define MODE(flags) ({ va_list ap; va_start(ap, flags); unsigned m = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(ap, unsigned) : 0; va_end(ap); m; })
HD_EXPORT int open(const char *path, int flags, ...) { return hd_open_at(AT_FDCWD, path, flags, MODE(flags), HD_RA); }
HD_EXPORT int open64(const char *path, int flags, ...) { return hd_open_at(AT_FDCWD, path, flags, MODE(flags), HD_RA); }
HD_EXPORT int openat(int dir, const char *path, int flags, ...) { return hd_open_at(dir, path, flags, MODE(flags), HD_RA); }
HD_EXPORT int openat64(int dir, const char *path, int flags, ...) { return hd_open_at(dir, path, flags, MODE(flags), HD_RA); }
HD_EXPORT int __open_2(const char *path, int flags) { return hd_open_at(AT_FDCWD, path, flags, 0, HD_RA); }
HD_EXPORT int __open64_2(const char *path, int flags) { return hd_open_at(AT_FDCWD, path, flags, 0, HD_RA); }
HD_EXPORT int creat(const char *path, mode_t mode) { return hd_open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, HD_RA); }
HD_EXPORT int creat64(const char *path, mode_t mode) { return hd_open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, HD_RA); }

static FILE *random_stream(const char *path, int flags, const char *mode, void *again) {
  if (again) hd_unsupported("freopen of a stream over /dev/urandom or /dev/random: use fopen");
  long fd = hd_sys4(SYS_openat, AT_FDCWD, path, flags & ~(O_CREAT | O_TRUNC), 0);
  if (fd < 0) return hd_errno_result(fd), NULL;
  FILE *f = hd_random_stream((int)fd, mode);
  if (!f) hd_sys(SYS_close, fd, 0, 0);
  return f;
}

// What opening with stdio's mode does to a file, for the undo log.
static void *stream(void *(*real)(const char *, const char *, void *), const char *path, const char *mode, void *f) {
  char name[4096], how[16];
  if (!hd_active() || !path) return real(hd_in_proc_of_child(name, path), mode, f);
  if (f && hd_stdio_modelled(f)) hd_unsupported("freopen of a stream over a pipe or a socket");
  if (f && hd_beside_others()) hd_stream_used(f, HD_CHANGES, hd.cur->pend.pc);
  if (!hd_fetch_string(name, path, sizeof name) || !hd_fetch_string(how, mode, sizeof how)) return errno = ENAMETOOLONG, NULL;
  bool plus = false, exclusive = false, closes = false;
  for (const char *c = how; *c && *c != ','; c++) { plus |= *c == '+'; exclusive |= *c == 'x'; closes |= *c == 'e'; }
  struct stat st;
  hd_io_only_point(HD_OP_FD_OPEN, hd.cur->pend.pc);
  char kernels[HD_PATH];
  const char *at = hd_in_proc(kernels, name, plus || *how != 'r' ? HD_PROC_WRITE : HD_PROC_READ);
  if (at != name) path = at;
  bool there = hd_sys4(SYS_newfstatat, AT_FDCWD, at, &st, 0) == 0;
  if (there && S_ISFIFO(st.st_mode)) hd_unsupported("a stdio stream over a FIFO: read and write a descriptor instead");
  int flags = plus ? O_RDWR : *how == 'r' ? O_RDONLY : O_WRONLY;
  if (*how != 'r') flags |= O_CREAT | (*how == 'w' ? O_TRUNC : 0) | (exclusive ? O_EXCL : 0);
  bool chance = there && hd_random_device(&st);
  if (!chance) hd_undo_open(AT_FDCWD, at, flags);
  FILE *r = chance ? random_stream(at, flags | (closes ? O_CLOEXEC : 0), how, f) : real(path, mode, f);
  int err = errno;
  if (!chance) hd_undo_opened(r ? AT_FDCWD : -1);
  if (r) hd_proc_opened(r->_fileno);
  if (r) hd_kernel_object(r->_fileno); // numbers it now
  errno = err;
  return r;
}
static void *real_fopen(const char *path, const char *mode, void *f) { (void)f; return REAL(fopen)(path, mode); }
static void *real_freopen(const char *path, const char *mode, void *f) { return REAL(freopen)(path, mode, f); }
HD_EXPORT FILE *fopen(const char *path, const char *mode) { hd_fd_opened(); hd_site(HD_RA); return stream(real_fopen, path, mode, NULL); }
HD_EXPORT FILE *fopen64(const char *path, const char *mode) { hd_fd_opened(); hd_site(HD_RA); return stream(real_fopen, path, mode, NULL); }
HD_EXPORT FILE *freopen(const char *path, const char *mode, FILE *f) { hd_touched(0); hd_site(HD_RA); return stream(real_freopen, path, mode, f); }
HD_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *f) { hd_touched(0); hd_site(HD_RA); return stream(real_freopen, path, mode, f); }
HD_EXPORT FILE *tmpfile(void) { // the file has no name, so nothing needs restoring
  hd_fd_opened();
  if (!hd_active()) return REAL(tmpfile)();
  hd_io_only_point(HD_OP_FD_OPEN, HD_RA);
  FILE *f = REAL(tmpfile)();
  struct stat st;
  if (f && hd_sys(SYS_fstat, f->_fileno, &st, 0) == 0) {
    hd_inode_made(&st);
    hd_kernel_object(f->_fileno);
  }
  return f;
}
HD_EXPORT FILE *tmpfile64(void) __attribute__((alias("tmpfile")));
HD_EXPORT int fclose(FILE *f) {
  hd_touched(0);
  if (!hd_active()) return REAL(fclose)(f);
  int r;
  if (hd_stdio_close(f, HD_RA, &r)) return r;
  hd_io_done(hd_io_point(HD_OP_FD_CLOSE, HD_RA, 0, f->_fileno, 0, NULL), 0, 0);
  if (hd_beside_others()) hd_stream_used(f, HD_CHANGES, HD_RA);
  hd_shared_ended(HD_SHARED_STREAM, (uint64_t)f);
  return REAL(fclose)(f);
}

// ---- the process's own
//
// These calls are not scheduling points; other threads may depend on their order.
static void change(bool *what) {
  *what = true;
  hd_unordered(HD_SHARED_PROCESS); // any call that takes a path depends on it
}
HD_EXPORT int ftruncate(int fd, off_t size) {
  hd_unordered(HD_SHARED_STREAM);
  return (int)hd_errno_result(hd_sys(SYS_ftruncate, fd, size, 0));
}
HD_EXPORT int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
HD_EXPORT int chdir(const char *path) {
  change(&moved);
  return (int)hd_errno_result(hd_sys(SYS_chdir, path, 0, 0));
}
HD_EXPORT int fchdir(int fd) {
  change(&moved);
  return (int)hd_errno_result(hd_reserved_fd(fd) ? -EBADF : hd_sys(SYS_fchdir, fd, 0, 0));
}
HD_EXPORT mode_t umask(mode_t m) {
  change(&mask_changed);
  return (mode_t)hd_sys(SYS_umask, m, 0, 0);
}

// An execution cannot see what a disk holds after a power failure, and waiting for the disk takes
// longer than most executions.
static int flush(int nr, int fd) {
  struct stat st;
  if (hd_reserved_fd(fd)) return (int)hd_errno_result(-EBADF);
  if (hd_active() && hd_sys(SYS_fstat, fd, &st, 0) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) return 0;
  return (int)hd_errno_result(hd_sys(nr, fd, 0, 0));
}
HD_EXPORT int fsync(int fd) { return flush(SYS_fsync, fd); }
HD_EXPORT int fdatasync(int fd) { return flush(SYS_fdatasync, fd); }
HD_EXPORT int syncfs(int fd) { return flush(SYS_syncfs, fd); }
HD_EXPORT void sync(void) {
  if (!hd_active()) hd_sys(SYS_sync, 0, 0, 0);
}

// ---- after an execution
static const char *shares(void) { return __atomic_load_n(&hd_shm->changes, __ATOMIC_RELAXED) ? "a change to a file" : NULL; }

static void save(void) {
  mask_at_main = (unsigned)hd_sys(SYS_umask, 0, 0, 0);
  hd_sys(SYS_umask, mask_at_main, 0, 0);
}

static void report(struct hd_result *r) {
  (void)r;
  if (HD_UNLIKELY(moved)) {
    moved = false;
    hd_sys(SYS_fchdir, hd_own_fd(HD_OWN_CWD), 0, 0);
  }
  hd_undo();
  if (HD_UNLIKELY(mask_changed)) {
    mask_changed = false;
    hd_sys(SYS_umask, mask_at_main, 0, 0);
  }
}

const struct hd_registration hd_files = { .save = save, .report = report, .shares = shares };
