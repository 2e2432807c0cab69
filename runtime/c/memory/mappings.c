// mappings.c: records mappings of the program, and removes them after the execution.
//
// The runtime sees the program's own mappings because it interposes mmap. Some libraries map memory
// without calling an interposed function (a library loaded inside libc). So the runtime periodically
// compares the list of mappings with the initial one; once it has differed, after every execution.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "core/carrier.h"
#include "core/event.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/heap.h"
#include "memory/mappings.h"
#include "memory/shared_state.h"

enum { MAX_MAPS = 4096 };
static struct { uintptr_t lo, hi; } made[MAX_MAPS];
static uint32_t nmade, checks;
// Where the program's mappings without a fixed address go. The address must not depend on the
// runtime's mappings, which differ between isolations.
#define MAP_AREA 0x280000000000ul
static uintptr_t next_map = MAP_AREA;
// Shared mappings that exist at main.
enum { MAX_SHARED = 16 };
static uintptr_t shared_early[MAX_SHARED];
static uint32_t nshared_early;
static bool always;
static struct { uintptr_t lo, hi; } *base_maps;
static uint32_t nbase;

void *hd_map_place(uint64_t bytes) {
  uintptr_t p = next_map;
  next_map += (bytes + 4095) & ~4095ul;
  return (void *)p;
}

// ---- names of objects in files
enum { PATH = 4096, EARLY_PATH = 256 };
// Files that are mapped at main.
static struct { struct hd_mapping mapping; char path[EARLY_PATH]; } files_early[MAX_SHARED];
static uint32_t nfiles_early;

// Returns the path of the regular file that a descriptor refers to, until the next call; "" for none.
static const char *path_of(int fd) {
  static char path[PATH];
  struct stat st;
  if (fd < 0 || hd_sys(SYS_fstat, fd, &st, 0) < 0 || !S_ISREG(st.st_mode)) return "";
  long n = hd_sys(SYS_readlink, hd_text("/proc/self/fd/%d", fd), path, PATH - 1);
  if (n < 0) return "";
  long remark = (long)sizeof " (deleted)" - 1; // the kernel's, of a file without a name
  if (!st.st_nlink && n > remark && path[n - remark] == ' ' && path[n - 1] == ')') n -= remark;
  path[n] = 0;
  return path;
}

static void tell(struct hd_mapping m, const char *path) {
  m.size = (m.size + 4095) & ~4095ul;
  m.event = hd_events_sent();
  hd_out2(HD_REC_MAPPING, &m, sizeof m, path, (uint32_t)hd_strlen(path) + 1);
}

static const char *file_of(int flags, int fd) { return flags & MAP_ANONYMOUS ? "" : path_of(fd); }

static void early_file(struct hd_mapping m, const char *path) {
  uint64_t n = hd_strlen(path) + 1;
  if (n == 1 || n > EARLY_PATH || nfiles_early == MAX_SHARED) return;
  files_early[nfiles_early].mapping = m;
  hd_copy(files_early[nfiles_early++].path, path, n);
}

// ---- memory with two names
// Files of which parts are mapped. An access by one address and one by another are not compared, so no search is complete.
enum { MAX_FILES = 256 };
static struct { uintptr_t lo, hi; uint64_t device, file, offset; bool writes; } of_files[MAX_FILES];
static uint32_t nof_files, nof_files_at_main;
static bool twice;

void hd_mapped_twice(void) {
  twice = true;
  hd.result.notes |= HD_NOTE_UNORDERED << HD_SHARED_MEMORY;
}

static void names_memory(uintptr_t lo, size_t len, int prot, int flags, int fd, uint64_t offset) {
  struct stat st;
  if (flags & MAP_ANONYMOUS || fd < 0 || hd_sys(SYS_fstat, fd, &st, 0) < 0 || !S_ISREG(st.st_mode)) return;
  bool writes = flags & MAP_SHARED && prot & PROT_WRITE;
  for (uint32_t i = 0; i < nof_files; i++)
    if (of_files[i].device == st.st_dev && of_files[i].file == st.st_ino && (writes || of_files[i].writes) && offset < of_files[i].offset + (of_files[i].hi - of_files[i].lo) &&
        of_files[i].offset < offset + len)
      hd_mapped_twice();
  if (nof_files == MAX_FILES) { hd_mapped_twice(); return; } // not known
  of_files[nof_files].lo = lo;
  of_files[nof_files].hi = lo + ((len + 4095) & ~4095ul);
  of_files[nof_files].device = st.st_dev;
  of_files[nof_files].file = st.st_ino;
  of_files[nof_files].offset = offset;
  of_files[nof_files++].writes = writes;
}

static void names_no_memory(uintptr_t lo, uintptr_t hi) {
  for (uint32_t i = 0; i < nof_files; i++)
    if (of_files[i].lo >= lo && of_files[i].hi <= hi) of_files[i--] = of_files[--nof_files];
}

HD_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off) {
  long p;
  if (!hd_active()) {
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
    bool mapped = p > 0 || p < -4095;
    if (hd_mode == HD_EARLY && flags & MAP_SHARED && prot & PROT_WRITE && mapped && nshared_early < MAX_SHARED)
      shared_early[nshared_early++] = (uintptr_t)p;
    if (hd_mode == HD_EARLY && mapped) names_memory((uintptr_t)p, len, prot, flags, fd, (uint64_t)off);
    if (hd_mode == HD_EARLY && mapped) early_file((struct hd_mapping){ .address = (uint64_t)p, .size = len, .offset = (uint64_t)off }, file_of(flags, fd));
  } else {
    hd.cur->pend.pc = HD_RA;
    if (flags & (MAP_SHARED | MAP_FIXED)) hd_unordered(HD_SHARED_PROCESS);
    if (flags & MAP_SHARED && prot & PROT_WRITE) hd_require_isolation(HD_ISOLATION_FORK, "mmap of shared writable memory");
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
      uintptr_t lo = (uintptr_t)addr, hi = lo + len;
      bool ours = false;
      for (uint32_t i = 0; i < nmade; i++) ours |= lo >= made[i].lo && hi <= made[i].hi;
      if (!ours) hd_require_isolation(HD_ISOLATION_FORK, "mmap at a fixed address");
    }
    if (nmade == MAX_MAPS) hd_require_isolation(HD_ISOLATION_FORK, "more than 4096 memory mappings in one execution");
    void *fresh = NULL;
    if (!addr && !(flags & (MAP_FIXED | MAP_32BIT))) addr = fresh = hd_map_place(len); // a hint: if it is taken, the kernel chooses another address
    p = hd_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
    if (p > 0 && nmade < MAX_MAPS) {
      made[nmade].lo = (uintptr_t)p;
      made[nmade++].hi = (uintptr_t)p + ((len + 4095) & ~4095ul);
    }
    if (p > 0) names_memory((uintptr_t)p, len, prot, flags, fd, (uint64_t)off);
    if (hd.record && p > 0) {
      const char *path = file_of(flags, fd);
      if (*path || !fresh || p != (long)fresh) tell((struct hd_mapping){ .address = (uint64_t)p, .size = len, .offset = (uint64_t)off }, path);
    }
    if (p > 0 && flags & MAP_ANONYMOUS && prot & PROT_WRITE && !(flags & (MAP_SHARED | MAP_FIXED))) hd_mapping_begins((void *)p, len, HD_RA);
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
    if (!ours) hd_require_isolation(HD_ISOLATION_FORK, "munmap of memory that was mapped before main");
    hd_event_settle();
    for (uint32_t i = 0; i < nmade; i++)
      if (made[i].lo == lo && made[i].hi == hi) { made[i] = made[--nmade]; break; }
  }
  if (hd_mode == HD_EARLY && nshared_early < MAX_SHARED)
    for (uint32_t i = 0; i < nshared_early; i++)
      if (shared_early[i] == lo) { shared_early[i] = shared_early[--nshared_early]; break; }
  long r = hd_sys(SYS_munmap, addr, len, 0);
  if (r < 0) { errno = (int)-r; return -1; }
  names_no_memory(lo, hi);
  if (hd_active()) hd_memory_gone(lo, hi - lo);
  return 0;
}

HD_EXPORT void *mremap(void *old, size_t size, size_t new_size, int flags, ...) {
  va_list ap;
  va_start(ap, flags);
  void *at = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
  va_end(ap);
  if (hd_active()) {
    hd.cur->pend.pc = HD_RA;
    hd_require_isolation(HD_ISOLATION_FORK, "mremap");
    hd_event_settle();
  }
  long p = hd_sys6(SYS_mremap, (long)old, (long)size, (long)new_size, flags, (long)at, 0);
  if (p < 0 && p > -4096) { errno = (int)-p; return MAP_FAILED; }
  if (!size) hd_mapped_twice(); // the old address stays valid
  if (hd_active() && hd.record) tell((struct hd_mapping){ .address = (uint64_t)p, .size = new_size, .from = (uint64_t)old }, "");
  return (void *)p;
}

// ---- the list
static uint64_t hex(const char **s) {
  uint64_t v = 0;
  for (;; (*s)++) {
    char c = **s;
    if (c >= '0' && c <= '9') v = v * 16 + (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f') v = v * 16 + (uint64_t)(c - 'a' + 10);
    else return v;
  }
}

// Calls f for each mapping and returns their number.
uint32_t hd_maps_each(void (*f)(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest)) {
  static char *buf;
  enum { SIZE = 4 << 20 };
  if (!buf) buf = hd_map(SIZE, "the list of mappings");
  long fd = hd_sys(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) hd_refuse("cannot read /proc/self/maps (error %d)", (int)-fd);
  long n = 0, k;
  while (n < SIZE - 1 && (k = hd_sys(SYS_read, fd, buf + n, SIZE - 1 - n)) > 0) n += k;
  hd_sys(SYS_close, fd, 0, 0);
  buf[n] = 0;
  uint32_t count = 0;
  for (const char *s = buf; *s;) {
    uint64_t lo = hex(&s);
    s++;
    uint64_t hi = hex(&s);
    s++;
    const char *perms = s;
    while (*s && *s != '\n') s++;
    if (f) f(lo, hi, perms, perms + 5);
    if (*s) s++;
    count++;
  }
  return count;
}

static void remember(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)perms; (void)rest;
  if (nbase < MAX_MAPS) { base_maps[nbase].lo = lo; base_maps[nbase++].hi = hi; }
}

static bool stray;
static void compare(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  if (perms[3] == 's') return; // a mapping of the runtime: the program's shared mappings are refused
  if (hd_area_above(lo)) return;
  // Ignores the stack, which grows.
  for (const char *s = rest; *s && *s != '\n'; s++)
    if (*s == '[') return;
  for (uint32_t i = 0; i < nbase && lo < hi; i++)
    if (lo >= base_maps[i].lo && lo < base_maps[i].hi) lo = base_maps[i].hi;
  if (lo < hi) {
    stray = true;
    hd_sys(SYS_munmap, lo, hi - lo, 0);
  }
}

static void restore(void) {
  for (uint32_t i = 0; i < nmade; i++) hd_sys(SYS_munmap, made[i].lo, made[i].hi - made[i].lo, 0);
  nmade = 0;
  nof_files = nof_files_at_main;
  next_map = MAP_AREA;
  checks++;
  bool anywhere = hd_late && !hd_area_empty();
  if (!always && !anywhere && checks != 1 && checks % 1024) return;
  stray = false;
  hd_maps_each(compare);
  if (stray) always = true;
}

// ---- what a fork does not copy
static uint32_t nshared, nshared_at_main;
static void count_shared(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)lo; (void)hi; (void)rest;
  nshared += perms[3] == 's' && perms[1] == 'w';
}

// Reports whether a fork leaves out a mapping, or its contents (madvise with MADV_DONTFORK and MADV_WIPEONFORK).
static bool left_out(void) {
  static char buf[4096];
  static const char start[] = "VmFlags:";
  long fd = hd_sys(SYS_open, "/proc/self/smaps", O_RDONLY | O_CLOEXEC, 0), n;
  if (fd < 0) return true;
  uint32_t matched = 0; // characters of start, at the beginning of the line
  char before[2] = { 0, 0 };
  bool found = false;
  while ((n = hd_sys(SYS_read, fd, buf, sizeof buf)) > 0)
    for (long i = 0; i < n; i++) {
      char c = buf[i];
      if (c == '\n') {
        matched = 0;
      } else if (matched == sizeof start - 1) {
        found |= (before[0] == ' ' && before[1] == 'd' && c == 'c') || (before[0] == ' ' && before[1] == 'w' && c == 'f');
      } else {
        matched = c == start[matched] ? matched + 1 : sizeof start; // beyond it: another line
      }
      before[0] = before[1];
      before[1] = c;
    }
  hd_sys(SYS_close, fd, 0, 0);
  return found;
}

static void save(void) {
  if (!base_maps) base_maps = hd_map(sizeof *base_maps * MAX_MAPS, "the list of mappings at main");
  nof_files_at_main = nof_files;
  nbase = 0;
  hd_maps_each(remember);
  nshared = 0;
  hd_maps_each(count_shared);
  nshared_at_main = nshared;
}

static const char *shares(void) {
  nshared = 0;
  if (hd_isolation) hd_maps_each(count_shared); // with a snapshot, the program makes none, and the runtime's own are shared
  return hd_isolation && nshared != nshared_at_main ? "shared memory" : left_out() ? "memory that a fork leaves out" : NULL;
}

static void main_begins(void) {
  if (twice) hd_mapped_twice();
  for (uint32_t i = 0; hd.record && i < nfiles_early; i++) tell(files_early[i].mapping, files_early[i].path);
  if (HD_UNLIKELY(nshared_early)) hd_require_isolation(HD_ISOLATION_PROCESS, "shared memory that was mapped before main");
}

const struct hd_registration hd_mappings = { .save = save, .restore = restore, .main_begins = main_begins, .shares = shares };
