// files.c: what an execution leaves in the kernel and memory cannot restore: open
// descriptors, file offsets, new mappings, captured output.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rt.h"

enum { BACKUPS = 3, BACKUP_FROM = 60 }; // below 64 the kernel's table stays small and quick
static int first_new, backup;  // first descriptor of an execution's own; copies of 0, 1, 2
static long offset[64];        // -1: need not be put back
static bool standard_touched;  // 0, 1 or 2 may have been closed or replaced
static bool opened;            // a descriptor may have been opened

void hd_files_save(void) {
  static bool done;
  if (done) return;
  done = true;
  first_new = 0;
  for (int fd = 0; fd < 1024; fd++)
    if (hd_sys(SYS_fcntl, fd, F_GETFD, 0) >= 0) first_new = fd + 1;
  backup = first_new > BACKUP_FROM ? first_new : BACKUP_FROM;
  for (int fd = 0; fd < first_new && fd < 64; fd++) {
    offset[fd] = hd_sys(SYS_lseek, fd, 0, SEEK_CUR);
    struct stat st;
    if (hd_sys(SYS_fstat, fd, &st, 0) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) offset[fd] = -1;
  }
  for (int fd = 0; fd < BACKUPS; fd++) hd_sys(SYS_dup3, fd, backup + fd, O_CLOEXEC);
}

static void touched(int fd) { if (fd >= 0 && fd < BACKUPS) standard_touched = true; }

static int result(long r) {
  if (r >= 0) return (int)r;
  errno = (int)-r;
  return -1;
}

static int open_at(int dir, const char *path, int flags, unsigned mode) {
  opened = true;
  return result(hd_sys4(SYS_openat, dir, path, flags, mode));
}
#define MODE(flags) ({ va_list ap; va_start(ap, flags); unsigned m = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(ap, unsigned) : 0; va_end(ap); m; })
HD_EXPORT int open(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE(flags)); }
HD_EXPORT int open64(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE(flags)); }
HD_EXPORT int openat(int dir, const char *path, int flags, ...) { return open_at(dir, path, flags, MODE(flags)); }
HD_EXPORT int openat64(int dir, const char *path, int flags, ...) { return open_at(dir, path, flags, MODE(flags)); }
HD_EXPORT int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
HD_EXPORT int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
HD_EXPORT int dup(int fd) { opened = true; return result(hd_sys(SYS_dup, fd, 0, 0)); }
HD_EXPORT FILE *fopen(const char *path, const char *mode) { opened = true; return REAL(fopen)(path, mode); }
HD_EXPORT FILE *fopen64(const char *path, const char *mode) { opened = true; return REAL(fopen)(path, mode); }
HD_EXPORT void *opendir(const char *path) { opened = true; return REAL(opendir)(path); }

HD_EXPORT int close(int fd) {
  if (hd_active()) {
    touched(fd);
    if (fd >= backup && fd < backup + BACKUPS) { errno = EBADF; return -1; }
  }
  return result(hd_sys(SYS_close, fd, 0, 0));
}
static bool reserved(int fd) { return hd_active() && fd >= backup && fd < backup + BACKUPS; }
HD_EXPORT int dup2(int from, int to) {
  touched(to);
  opened = true;
  return result(reserved(to) ? -EBADF : hd_sys(SYS_dup2, from, to, 0));
}
HD_EXPORT int dup3(int from, int to, int flags) {
  touched(to);
  opened = true;
  return result(reserved(to) ? -EBADF : hd_sys(SYS_dup3, from, to, flags));
}
HD_EXPORT int fclose(FILE *f) {
  standard_touched = true;
  return REAL(fclose)(f);
}
HD_EXPORT FILE *freopen(const char *path, const char *mode, FILE *f) {
  standard_touched = true;
  return REAL(freopen)(path, mode, f);
}

// Captured output: 1 and 2 are one memory file, given by the controller.
uint32_t hd_files_written(void) {
  long n = hd_sys(SYS_lseek, backup + 1, 0, 1);
  return n > 0 ? (uint32_t)n : 0;
}

void hd_files_output(void) {
  uint32_t n = hd_files_written();
  static char buf[32768];
  for (uint32_t at = 0; at < n;) {
    long k = hd_sys4(SYS_pread64, backup + 1, buf, sizeof buf, at);
    if (k <= 0) break;
    uint32_t head[2] = { 1, (uint32_t)k };
    hd_out2(HD_REC_OUTPUT, head, sizeof head, buf, (uint32_t)k);
    at += (uint32_t)k;
  }
}

void hd_files_restore(void) {
  // Closing ranges walks the whole table. libc opens files for itself, too: then the lowest
  // free descriptor is another one, or some other execution soon will notice.
  static uint32_t count;
  long lowest = hd_sys(SYS_fcntl, backup, F_DUPFD, first_new);
  if (lowest >= 0) hd_sys(SYS_close, lowest, 0, 0);
  if (opened || lowest != first_new || ++count % 64 == 0) {
    opened = false;
    hd_sys(SYS_close_range, first_new, backup - 1, 0);
    hd_sys(SYS_close_range, backup + BACKUPS, ~0u, 0);
  }
  if (hd_files_written()) {
    hd_sys(SYS_ftruncate, backup + 1, 0, 0);
    hd_sys(SYS_lseek, backup + 1, 0, SEEK_SET);
  }
  if (HD_UNLIKELY(standard_touched)) {
    standard_touched = false;
    for (int fd = 0; fd < BACKUPS; fd++)
      if (hd_sys(SYS_dup3, backup + fd, fd, 0) < 0) hd_sys(SYS_close, fd, 0, 0); // it was closed at main
  }
  for (int fd = 0; fd < first_new && fd < 64; fd++)
    if (offset[fd] >= 0) hd_sys(SYS_lseek, fd, offset[fd], SEEK_SET);
}

// ---- mappings
//
// The program's own are seen as they are made. Libraries map memory behind the back of
// interposition (a library loaded inside libc): now and then the list of mappings is
// compared with what it was, and if it ever differs, after every execution from then on.
enum { MAX_MAPS = 4096 };
static struct { uintptr_t lo, hi; } made[MAX_MAPS];
static uint32_t nmade, checks;
static bool always;
static struct { uintptr_t lo, hi; } *base_maps;
static uint32_t nbase;

HD_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off) {
  long p;
  if (!hd_active()) {
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
  } else {
    if (flags & MAP_SHARED && prot & PROT_WRITE) hd_unsupported("mmap of shared writable memory");
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
      uintptr_t lo = (uintptr_t)addr, hi = lo + len;
      bool ours = false;
      for (uint32_t i = 0; i < nmade; i++) ours |= lo >= made[i].lo && hi <= made[i].hi;
      if (!ours) hd_unsupported("mmap at a fixed address");
    }
    if (nmade == MAX_MAPS) hd_unsupported("more than 4096 memory mappings in one execution");
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
    if (p > 0) {
      made[nmade].lo = (uintptr_t)p;
      made[nmade++].hi = (uintptr_t)p + ((len + 4095) & ~4095ul);
    }
  }
  if (p < 0 && p > -4096) { errno = (int)-p; return MAP_FAILED; }
  return (void *)p;
}
HD_EXPORT void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

HD_EXPORT int munmap(void *addr, size_t len) {
  uintptr_t lo = (uintptr_t)addr, hi = lo + ((len + 4095) & ~4095ul);
  if (hd_active()) {
    bool ours = false;
    for (uint32_t i = 0; i < nmade; i++) ours |= lo >= made[i].lo && hi <= made[i].hi;
    if (!ours) hd_unsupported("munmap of memory that was mapped before main");
    hd_event_settle();
    for (uint32_t i = 0; i < nmade; i++)
      if (made[i].lo == lo && made[i].hi == hi) { made[i] = made[--nmade]; break; }
  }
  long r = hd_sys(SYS_munmap, addr, len, 0);
  if (r < 0) { errno = (int)-r; return -1; }
  return 0;
}

static void remember(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)perms; (void)rest;
  if (nbase < MAX_MAPS) { base_maps[nbase].lo = lo; base_maps[nbase++].hi = hi; }
}

static bool stray;
static void compare(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  if (perms[3] == 's') return; // the runtime's own; the program's are refused
  // The stack grows.
  for (const char *s = rest; *s && *s != '\n'; s++)
    if (*s == '[') return;
  for (uint32_t i = 0; i < nbase && lo < hi; i++)
    if (lo >= base_maps[i].lo && lo < base_maps[i].hi) lo = base_maps[i].hi;
  if (lo < hi) {
    stray = true;
    hd_sys(SYS_munmap, lo, hi - lo, 0);
  }
}

void hd_maps_save(void) {
  if (!base_maps) base_maps = hd_map(sizeof *base_maps * MAX_MAPS, "the list of mappings at main");
  nbase = 0;
  hd_maps_each(remember);
}

void hd_maps_restore(void) {
  for (uint32_t i = 0; i < nmade; i++) hd_sys(SYS_munmap, made[i].lo, made[i].hi - made[i].lo, 0);
  nmade = 0;
  checks++;
  if (!always && checks != 1 && checks % 1024) return;
  stray = false;
  hd_maps_each(compare);
  if (stray) always = true;
}
