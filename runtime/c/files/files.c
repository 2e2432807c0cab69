// files.c: what an execution leaves in the kernel and memory cannot restore: open
// descriptors, file offsets, the working directory, new mappings, captured output.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/fd.h"
#include "loader/loader.h"
#include "files/undo.h"

// heddle's own descriptors: copies of 0, 1 and 2, the placeholders, the working directory,
// and the file that stands for /dev/urandom. Below 64 the kernel's table stays small and quick.
enum { BACKUPS = 3, PLACES = 3, CWD = BACKUPS + PLACES, RANDOM, RESERVED, BACKUP_FROM = 56 };
static int first_new, backup;  // first descriptor of an execution's own; the first of heddle's
static long offset[64];        // -1: need not be put back
static long modes[64], closing[64]; // F_GETFL and F_GETFD, negative where there is nothing
static bool modes_set;         // one of them may be another
static bool standard_touched;  // 0, 1 or 2 may have been closed or replaced
static bool opened;            // a descriptor may have been opened
static bool moved;             // the working directory may be another
static unsigned mask_at_main;
static bool mask_changed, have_random;

void hd_files_save(void) {
  static bool done;
  if (done) return;
  done = true;
  first_new = 0;
  for (int fd = 0; fd < 1024; fd++)
    if (hd_sys(SYS_fcntl, fd, F_GETFD, 0) >= 0) first_new = fd + 1;
  backup = first_new > BACKUP_FROM ? first_new : BACKUP_FROM;
  for (int fd = 0; fd < first_new && fd < 64; fd++) {
    modes[fd] = hd_sys(SYS_fcntl, fd, F_GETFL, 0);
    closing[fd] = hd_sys(SYS_fcntl, fd, F_GETFD, 0);
    offset[fd] = hd_sys(SYS_lseek, fd, 0, SEEK_CUR);
    struct stat st;
    if (hd_sys(SYS_fstat, fd, &st, 0) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) offset[fd] = -1;
  }
  for (int fd = 0; fd < BACKUPS; fd++) hd_sys(SYS_dup3, fd, backup + fd, O_CLOEXEC);
  hd_placeholders_make();
  int *place = hd_placeholders();
  for (int i = 0; i < PLACES; i++) {
    hd_sys(SYS_dup3, place[i], backup + BACKUPS + i, O_CLOEXEC);
    hd_sys(SYS_close, place[i], 0, 0);
    place[i] = backup + BACKUPS + i;
  }
  long cwd = hd_sys4(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (cwd >= 0) {
    hd_sys(SYS_dup3, cwd, backup + CWD, O_CLOEXEC);
    hd_sys(SYS_close, cwd, 0, 0);
  }
  hd_standard_named();
  mask_at_main = (unsigned)hd_sys(SYS_umask, 0, 0, 0);
  hd_sys(SYS_umask, mask_at_main, 0, 0);
}

bool hd_outside_early(int fd) { return fd > 2 && fd < first_new && hd_is_outside(fd); }

bool hd_reserved_fd(int fd) { return hd_active() && fd >= backup && fd < backup + RESERVED; }
void hd_touched(int fd) { if (fd >= 0 && fd < BACKUPS) standard_touched = true; }
void hd_fd_opened(void) { opened = true; }
void hd_fd_mode_set(void) { modes_set = true; }

void hd_unreserve(void) {
  int to = backup + RESERVED;
  for (int i = 0; i < RESERVED;) {
    if (hd_sys(SYS_fcntl, to + i, F_GETFD, 0) >= 0) { to += i + 1; i = 0; }
    else i++;
  }
  for (int i = 0; i < RESERVED; i++) {
    hd_sys(SYS_dup3, backup + i, to + i, O_CLOEXEC);
    hd_sys(SYS_close, backup + i, 0, 0);
  }
  int *place = hd_placeholders();
  for (int i = 0; i < PLACES; i++) place[i] = to + BACKUPS + i;
  backup = to;
}

// ---- opening
//
// The kernel's random devices would make every execution another one. A file of random bytes
// that never change takes their place, for stdio and C++ streams, too.
static bool is_random(const char *path) { return hd_streq(path, "/dev/urandom") || hd_streq(path, "/dev/random"); }

const char *hd_random_path(void) {
  enum { BYTES = 1 << 20 };
  static char path[HD_FD_PATH];
  int fd = backup + RANDOM;
  if (!have_random) {
    long made = hd_sys(SYS_memfd_create, "random", 1 /* MFD_CLOEXEC */, 0);
    if (made < 0) hd_unsupported("/dev/urandom (no memory file can be made)");
    uint64_t block[512], x = 0x7261;
    for (int i = 0; i < BYTES / (int)sizeof block; i++) {
      for (uint32_t k = 0; k < 512; k++) block[k] = hd_mix(x++, 0x6e646f6d);
      hd_sys(SYS_write, made, block, sizeof block);
    }
    hd_sys(SYS_dup3, made, fd, O_CLOEXEC);
    hd_sys(SYS_close, made, 0, 0);
    have_random = true;
  }
  return hd_fd_path(path, fd);
}

static long open_now(int dir, const char *path, int flags, unsigned mode) {
  struct stat st;
  if (is_random(path)) return hd_sys4(SYS_openat, AT_FDCWD, hd_random_path(), O_RDONLY | (flags & O_CLOEXEC), 0);
  if (!(flags & (O_PATH | O_NONBLOCK)) && hd_sys4(SYS_newfstatat, dir, path, &st, 0) == 0 && S_ISFIFO(st.st_mode)) {
    // Opening would block the carrier until another process opens the other end.
    long fd = hd_sys4(SYS_openat, dir, path, flags | O_NONBLOCK, mode);
    if (fd == -ENXIO) hd_unsupported("open of a FIFO for writing that nobody reads");
    if (fd >= 0) hd_sys(SYS_fcntl, fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
  }
  hd_undo_open(dir, path, flags);
  long fd = hd_sys4(SYS_openat, dir, path, flags, mode);
  hd_undo_opened(fd);
  if (fd >= 0 && (flags & O_TMPFILE) == O_TMPFILE && hd_sys(SYS_fstat, fd, &st, 0) == 0) hd_inode_made(&st);
  return fd;
}

int hd_open_at(int dir, const char *user, int flags, unsigned mode, uint64_t pc) {
  opened = true;
  if (!hd_active()) return (int)hd_errno_result(hd_sys4(SYS_openat, dir, user, flags, mode));
  char path[4096];
  hd.cur->pend.pc = pc;
  if (!hd_fetch_string(path, user, sizeof path)) return (int)hd_errno_result(-ENAMETOOLONG);
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  long fd = open_now(dir, path, flags, mode);
  if (fd < 0) return (int)hd_errno_result(hd_io_done(t, 0, -fd));
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

// What stdio's mode will make of a file, for the undo log.
static void *stream(void *(*real)(const char *, const char *, void *), const char *path, const char *mode, void *f) {
  if (!hd_active() || !path) return real(path, mode, f);
  if (f && hd_stdio_modelled(f)) hd_unsupported("freopen of a stream over a pipe or a socket");
  char name[4096], how[16];
  if (!hd_fetch_string(name, path, sizeof name) || !hd_fetch_string(how, mode, sizeof how)) return errno = ENAMETOOLONG, NULL;
  bool plus = false, exclusive = false;
  for (const char *c = how; *c && *c != ','; c++) { plus |= *c == '+'; exclusive |= *c == 'x'; }
  struct stat st;
  hd_io_only_point(HD_OP_FD_OPEN, hd.cur->pend.pc);
  if (hd_sys4(SYS_newfstatat, AT_FDCWD, name, &st, 0) == 0 && S_ISFIFO(st.st_mode)) hd_unsupported("a stdio stream over a FIFO: read and write a descriptor instead");
  int flags = plus ? O_RDWR : *how == 'r' ? O_RDONLY : O_WRONLY;
  if (*how != 'r') flags |= O_CREAT | (*how == 'w' ? O_TRUNC : 0) | (exclusive ? O_EXCL : 0);
  bool chance = is_random(name);
  if (!chance) hd_undo_open(AT_FDCWD, name, flags);
  FILE *r = chance ? real(hd_random_path(), "r", f) : real(path, mode, f);
  int err = errno;
  if (!chance) hd_undo_opened(r ? AT_FDCWD : -1);
  if (r) hd_kernel_object(r->_fileno); // it has a name from now on
  errno = err;
  return r;
}
static void *real_fopen(const char *path, const char *mode, void *f) { (void)f; return REAL(fopen)(path, mode); }
static void *real_freopen(const char *path, const char *mode, void *f) { return REAL(freopen)(path, mode, f); }
HD_EXPORT FILE *fopen(const char *path, const char *mode) { opened = true; hd_site(HD_RA); return stream(real_fopen, path, mode, NULL); }
HD_EXPORT FILE *fopen64(const char *path, const char *mode) { opened = true; hd_site(HD_RA); return stream(real_fopen, path, mode, NULL); }
HD_EXPORT FILE *freopen(const char *path, const char *mode, FILE *f) { standard_touched = true; hd_site(HD_RA); return stream(real_freopen, path, mode, f); }
HD_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *f) { standard_touched = true; hd_site(HD_RA); return stream(real_freopen, path, mode, f); }
HD_EXPORT FILE *tmpfile(void) { // has no name, so there is nothing to put back
  opened = true;
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
  standard_touched = true;
  if (!hd_active()) return REAL(fclose)(f);
  int r;
  if (hd_stdio_close(f, HD_RA, &r)) return r;
  hd_io_only_point(HD_OP_FD_CLOSE, HD_RA);
  return REAL(fclose)(f);
}

// ---- the process's own
HD_EXPORT int chdir(const char *path) {
  moved = true;
  return (int)hd_errno_result(hd_sys(SYS_chdir, path, 0, 0));
}
HD_EXPORT int fchdir(int fd) {
  moved = true;
  return (int)hd_errno_result(hd_reserved_fd(fd) ? -EBADF : hd_sys(SYS_fchdir, fd, 0, 0));
}
HD_EXPORT mode_t umask(mode_t m) {
  mask_changed = true;
  return (mode_t)hd_sys(SYS_umask, m, 0, 0);
}

// What a disk holds after a power failure is nothing that an execution can see, and waiting for
// the disk takes longer than most executions.
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

// Captured output: 1 and 2 are one memory file, given by the controller.
static uint64_t output_size(void) {
  long n = hd_sys(SYS_lseek, backup + 1, 0, 1);
  return n > 0 ? (uint64_t)n : 0;
}

uint32_t hd_files_written(void) {
  uint64_t n = output_size();
  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void send_output(uint64_t at, uint64_t end) {
  static char buf[32768];
  while (at < end) {
    uint64_t left = end - at;
    long k = hd_sys4(SYS_pread64, backup + 1, buf, left < sizeof buf ? left : sizeof buf, at);
    if (k <= 0) break;
    uint32_t head[2] = { 1, (uint32_t)k };
    hd_out2(HD_REC_OUTPUT, head, sizeof head, buf, (uint32_t)k);
    at += (uint64_t)k;
  }
}

static uint32_t left_out(char *text, int size, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = hd_format(text, size, fmt, ap);
  va_end(ap);
  return (uint32_t)n;
}

// Nobody reads gigabytes, and a trace must hold what is sent: the beginning says what ran and
// the end how it ended.
void hd_files_output(void) {
  uint64_t n = output_size();
  if (n <= 2 * HD_OUTPUT_KEPT) {
    send_output(0, n);
    return;
  }
  send_output(0, HD_OUTPUT_KEPT);
  char text[80];
  uint32_t head[2] = { 1, left_out(text, sizeof text, "\n[heddle: %lu bytes of output left out]\n", n - 2 * HD_OUTPUT_KEPT) };
  hd_out2(HD_REC_OUTPUT, head, sizeof head, text, head[1]);
  send_output(n - HD_OUTPUT_KEPT, n);
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
    hd_sys(SYS_close_range, backup + RESERVED, ~0u, 0);
  }
  if (HD_UNLIKELY(moved)) {
    moved = false;
    hd_sys(SYS_fchdir, backup + CWD, 0, 0);
  }
  hd_undo();
  if (HD_UNLIKELY(mask_changed)) {
    mask_changed = false;
    hd_sys(SYS_umask, mask_at_main, 0, 0);
  }
  if (output_size()) {
    hd_sys(SYS_ftruncate, backup + 1, 0, 0);
    hd_sys(SYS_lseek, backup + 1, 0, SEEK_SET);
  }
  if (HD_UNLIKELY(standard_touched)) {
    standard_touched = false;
    for (int fd = 0; fd < BACKUPS; fd++)
      if (hd_sys(SYS_dup3, backup + fd, fd, 0) < 0) hd_sys(SYS_close, fd, 0, 0); // it was closed at main
  }
  if (HD_UNLIKELY(modes_set)) { // O_NONBLOCK on the standard output, most often
    modes_set = false;
    for (int fd = 0; fd < first_new && fd < 64; fd++) {
      if (modes[fd] >= 0) hd_sys(SYS_fcntl, fd, F_SETFL, modes[fd]);
      if (closing[fd] >= 0) hd_sys(SYS_fcntl, fd, F_SETFD, closing[fd]);
    }
  }
  for (int fd = 0; fd < first_new && fd < 64; fd++)
    if (offset[fd] >= 0) hd_sys(SYS_lseek, fd, offset[fd], SEEK_SET);
}

void hd_files_release(void) { hd_sys(SYS_close_range, backup, backup + RESERVED - 1, 0); }

// ---- mappings
//
// The program's own are seen as they are made. Libraries map memory behind the back of
// interposition (a library loaded inside libc): periodically the list of mappings is
// compared with what it was, and if it ever differs, after every execution from then on.
enum { MAX_MAPS = 4096 };
static struct { uintptr_t lo, hi; } made[MAX_MAPS];
static uint32_t nmade, checks;
// Where the program's go that may go anywhere: a place that does not depend on what the
// runtime has mapped, which is not the same under each isolation.
#define MAP_AREA 0x280000000000ul
static uintptr_t next_map = MAP_AREA;
bool hd_shared_early;
static bool always;
static struct { uintptr_t lo, hi; } *base_maps;
static uint32_t nbase;

void *hd_map_place(uint64_t bytes) {
  uintptr_t p = next_map;
  next_map += (bytes + 4095) & ~4095ul;
  return (void *)p;
}

HD_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off) {
  long p;
  if (!hd_active()) {
    if (hd_mode == HD_EARLY && flags & MAP_SHARED && prot & PROT_WRITE) hd_shared_early = true;
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
  } else {
    hd.cur->pend.pc = HD_RA;
    if (flags & MAP_SHARED && prot & PROT_WRITE) hd_needs(HD_ISOLATION_FORK, "mmap of shared writable memory");
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
      uintptr_t lo = (uintptr_t)addr, hi = lo + len;
      bool ours = false;
      for (uint32_t i = 0; i < nmade; i++) ours |= lo >= made[i].lo && hi <= made[i].hi;
      if (!ours) hd_needs(HD_ISOLATION_FORK, "mmap at a fixed address");
    }
    if (nmade == MAX_MAPS) hd_needs(HD_ISOLATION_FORK, "more than 4096 memory mappings in one execution");
    if (!addr && !(flags & (MAP_FIXED | MAP_32BIT))) addr = hd_map_place(len); // the kernel looks elsewhere if it is taken
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
    if (p > 0 && nmade < MAX_MAPS) {
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
    hd.cur->pend.pc = HD_RA;
    bool ours = false;
    for (uint32_t i = 0; i < nmade; i++) ours |= lo >= made[i].lo && hi <= made[i].hi;
    if (!ours) hd_needs(HD_ISOLATION_FORK, "munmap of memory that was mapped before main");
    hd_event_settle();
    for (uint32_t i = 0; i < nmade; i++)
      if (made[i].lo == lo && made[i].hi == hi) { made[i] = made[--nmade]; break; }
  }
  long r = hd_sys(SYS_munmap, addr, len, 0);
  if (r < 0) { errno = (int)-r; return -1; }
  if (hd_active()) hd_memory_gone(lo, hi - lo);
  return 0;
}

static void remember(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)perms; (void)rest;
  if (nbase < MAX_MAPS) { base_maps[nbase].lo = lo; base_maps[nbase++].hi = hi; }
}

static bool stray;
static void compare(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  if (perms[3] == 's') return; // the runtime's own; the program's are refused
  if (hd_area_above(lo)) return;
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
  next_map = MAP_AREA;
  checks++;
  bool anywhere = hd_late && !hd_area_empty();
  if (!always && !anywhere && checks != 1 && checks % 1024) return;
  stray = false;
  hd_maps_each(compare);
  if (stray) always = true;
}
