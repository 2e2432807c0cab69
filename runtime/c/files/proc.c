// proc.c: paths in /proc. The kernel knows processes there by its own identifiers, the program by heddle's
// (threads/identifiers.c). What the files say about identifiers and the number of threads is the kernel's, except in
// /proc/self/status and stat, where test frameworks look for a debugger.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"
#include "memory/shared_state.h"
#include "threads/threads.h"
#include "io/descriptors.h"
#include "files/files.h"

static const char nowhere[] = "/proc/0"; // never exists

// Reports whether s begins with the path component name, and moves s behind it.
static bool component(const char **s, const char *name) {
  const char *c = *s;
  while (*name && *c == *name) { c++; name++; }
  if (*name || (*c && *c != '/')) return false;
  *s = c;
  return true;
}

static bool number(const char **s, uint32_t *n) {
  const char *c = *s;
  uint64_t v = 0;
  while (*c >= '0' && *c <= '9' && v < 1u << 30) v = v * 10 + (uint64_t)(*c++ - '0');
  if (c == *s || (*c && *c != '/')) return false;
  *s = c;
  *n = (uint32_t)v;
  return true;
}

static bool write_is_isolated(const char *file) {
  static const char *const names[] = { "oom_score_adj", "oom_adj", "coredump_filter", "uid_map", "gid_map", "setgroups", "mem" };
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    if (hd_streq(file, names[i])) return true;
  return false;
}

// Links to other files: heddle undoes what is written there.
static bool leads_elsewhere(const char *rest) {
  static const char *const names[] = { "fd", "cwd", "root", "exe", "map_files" };
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    if (component(&rest, names[i])) return true;
  return false;
}

static const char *in_process(char *out, uint32_t pid, const char *rest) { return hd_proc_path(out, "/proc/", pid, rest); }

// The thread that a path names. main has the identifier of the process in the kernel, too.
static const char *of_thread(char *out, const struct hd_thread *u, const char *rest) {
  if (!u || u->ended || u->fires) return nowhere;
  if (u->number != 0) hd_unsupported("the files in /proc of a thread other than main");
  return hd_proc_path(out, "/proc/self/task/", (uint32_t)hd_sys(SYS_getpid, 0, 0, 0), rest);
}

// Whether the last path was that of a file of the state of the program, or of its parent, to read it.
static enum { OTHER, STATUS, STAT } state;
static bool parents;

const char *hd_in_proc(char *out, const char *path, enum hd_proc_use use) {
  const char *s = path;
  uint32_t n;
  bool own = false;
  state = OTHER;
  parents = false;
  if (!component(&s, "/proc") || !*s || hd_strlen(path) > HD_PATH - 32) return path;
  while (*s == '/') s++;
  if (component(&s, "thread-self")) {
    path = of_thread(out, hd.cur, s);
    own = true;
  } else if (component(&s, "self")) {
    own = true;
  } else if (number(&s, &n)) {
    struct hd_thread *u = n - HD_TID_BASE < hd.nborn ? hd_thread_numbered(n - HD_TID_BASE) : NULL;
    long child = n >= HD_CHILD_BASE ? hd_kernel_child((int)n) : 0;
    if (n == (uint32_t)hd_pid()) {
      own = true;
      path = in_process(out, (uint32_t)hd_sys(SYS_getpid, 0, 0, 0), s);
    } else if (n - HD_TID_BASE < hd.nborn) {
      return of_thread(out, u, s);
    } else if (child) {
      return in_process(out, (uint32_t)child, s);
    } else if (n >= HD_CHILD_BASE && n < HD_CHILD_BASE + 1024) {
      return nowhere;
    } else if (n == (uint32_t)hd_pid() - 1) {
      if (use == HD_PROC_WRITE || (!hd_streq(s, "/stat") && !hd_streq(s, "/status") && !hd_streq(s, "/comm") && !hd_streq(s, "/exe")))
        hd_unsupported("the files in /proc of the program's parent");
      if (use == HD_PROC_READ) state = hd_streq(s, "/status") ? STATUS : hd_streq(s, "/stat") ? STAT : OTHER;
      parents = true;
      return in_process(out, (uint32_t)hd_sys(SYS_getppid, 0, 0, 0), s);
    }
  }
  const char *rest = s;
  while (*rest == '/') rest++;
  if (own && component(&rest, "task")) {
    while (*rest == '/') rest++;
    if (!*rest && use != HD_PROC_LOOK) hd_unsupported("the list of threads in /proc");
    if (number(&rest, &n)) path = of_thread(out, n - HD_TID_BASE < hd.nborn ? hd_thread_numbered(n - HD_TID_BASE) : NULL, rest);
    while (*rest == '/') rest++;
  }
  if (own && use == HD_PROC_READ) state = hd_streq(rest, "status") ? STATUS : hd_streq(rest, "stat") ? STAT : OTHER;
  if (use != HD_PROC_WRITE || (own && leads_elsewhere(rest))) return path;
  if (!own || !write_is_isolated(rest)) hd_unsupported("writing to a file in /proc");
  hd_require_isolation(HD_ISOLATION_FORK, "writing to a file in /proc");
  return path;
}

// What the program sees in these files where the kernel's number is another one in each execution. Other numbers have the same width each time,
// except sizes in stat, which get it by zeros before them.
enum shown { KERNELS, OWN, PARENT, ALIVE, NONE, PADDED };

static enum shown in_status(const char *line) {
  static const struct { const char *name; enum shown as; } lines[] = {
    { "Tgid:", OWN }, { "Pid:", OWN }, { "PPid:", PARENT }, { "NStgid:", OWN }, { "NSpid:", OWN }, { "NSpgid:", OWN }, { "NSsid:", PARENT },
    { "Threads:", ALIVE }, { "SigQ:", NONE }, { "voluntary_ctxt_switches:", NONE }, { "nonvoluntary_ctxt_switches:", NONE },
  };
  for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const char *c = line, *name = lines[i].name;
    while (*name && *c == *name) { c++; name++; }
    if (!*name) return lines[i].as;
  }
  return parents && line[0] == 'F' && line[1] == 'D' ? NONE : KERNELS; // FDSize
}

static enum shown in_stat(uint32_t field) {
  if (parents && field > 6) return NONE;
  switch (field) {
  case 1: case 5: return OWN;
  case 4: case 6: return PARENT;
  case 10 ... 17: case 22: case 39: case 42 ... 44: return NONE; // faults, times, the processor
  case 20: return ALIVE;
  case 23: case 24: return PADDED; // memory in use
  }
  return KERNELS;
}

// Writes a number in place of that at *from, and returns where it ends.
static char *number_as(enum shown as, char *to, const char **from) {
  const char *c = *from;
  while (*c >= '0' && *c <= '9') c++;
  if (as == KERNELS || as == PADDED) {
    for (long zeros = as == PADDED ? 20 - (c - *from) : 0; zeros > 0; zeros--) *to++ = '0';
    while (*from < c) *to++ = *(*from)++;
    return to;
  }
  *from = c;
  uint32_t own = (uint32_t)hd_pid() - parents;
  hd_proc_path(to, "", as == OWN ? own : as == PARENT ? parents ? 1 : own - 1 : as == ALIVE ? parents ? 1 : hd.nlive : 0, "");
  return to + hd_strlen(to);
}

void hd_proc_opened(long fd) {
  static char kernels[8192], text[sizeof kernels + 512];
  bool stat = state == STAT;
  if (state == OTHER || fd < 0) return;
  state = OTHER;
  long n = 0, got;
  while (n < (long)sizeof kernels - 1 && (got = hd_sys4(SYS_pread64, fd, kernels + n, sizeof kernels - 1 - (uint64_t)n, n)) > 0) n += got;
  kernels[n] = 0;
  const char *c = kernels;
  char *to = text;
  // The second field of stat is the name of the program, in parentheses; it may contain any of these.
  const char *name = kernels;
  for (const char *p = kernels; stat && *p; p++)
    if (*p == ')') name = p;
  uint32_t field = 1;
  while (*c) {
    bool first = c == kernels || (stat ? c > name && c[-1] == ' ' : c[-1] == '\n');
    if (stat && first && c != kernels) field++;
    enum shown as = first ? stat ? in_stat(field) : in_status(c) : KERNELS;
    if (as != KERNELS && !stat) {
      while (*c && *c != '\n' && !(*c >= '0' && *c <= '9')) *to++ = *c++;
    }
    if (as != KERNELS && *c >= '0' && *c <= '9') to = number_as(as, to, &c);
    else *to++ = *c++;
    if (stat && c == name) field = 2;
  }
  long memory = hd_sys(SYS_memfd_create, "state", 1 /* MFD_CLOEXEC */, 0);
  if (memory < 0) return;
  if (hd_sys4(SYS_pwrite64, memory, text, to - text, 0) == to - text)
    hd_sys(SYS_dup3, memory, fd, hd_sys(SYS_fcntl, fd, F_GETFD, 0) & FD_CLOEXEC ? O_CLOEXEC : 0);
  hd_sys(SYS_close, memory, 0, 0);
}

static bool begins_with_proc(const char *path) {
  static const char prefix[] = "/proc/";
  uint64_t want = 0;
  if (!path) return false;
  hd_copy(&want, prefix, 6);
  return hd_word_at((uint64_t)path, 6) == want;
}

const char *hd_in_proc_of_child(char *out, const char *path) {
  uint32_t n;
  if (hd_mode != HD_CHILD || !begins_with_proc(path) || hd_strlen(path) > HD_PATH - 32) return path;
  const char *s = path + sizeof "/proc";
  if (!number(&s, &n)) return path;
  return in_process(out, (uint32_t)hd_identity_kernels((int)n), s);
}

// ---- calls that only look a path up
//
// They are not scheduling points, and paths outside of /proc are libc's.
static bool below(const char *path) { return (hd_active() || hd_mode == HD_CHILD) && begins_with_proc(path); }

static bool looked_for(const char *path, uint64_t pc) {
  hd_shares(HD_SHARED_STREAM, HD_STATE_FILES, HD_LOOKS_AT, pc);
  return below(path);
}

#define LOOKED(path) (hd_active() ? hd_in_proc(out, fetched(in, path, HD_RA), HD_PROC_LOOK) : hd_in_proc_of_child(out, path))
static const char *fetched(char *in, const char *path, uint64_t pc) {
  hd.cur->pend.pc = pc;
  return hd_fetch_string(in, path, HD_PATH) ? in : path;
}

#define LOOK(ret, name, parameters, arguments) \
  HD_INTERPOSE_WHILE(looked_for(path, HD_RA), ret, name, parameters, arguments) { \
    char in[HD_PATH], out[HD_PATH]; \
    path = LOOKED(path); \
    return REAL(name) arguments; \
  }
LOOK(int, stat, (const char *path, struct stat *st), (path, st))
LOOK(int, lstat, (const char *path, struct stat *st), (path, st))
LOOK(int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags))
LOOK(int, stat64, (const char *path, struct stat64 *st), (path, st))
LOOK(int, lstat64, (const char *path, struct stat64 *st), (path, st))
LOOK(int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), (dir, path, st, flags))
LOOK(int, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *st), (dir, path, flags, mask, st))
LOOK(int, access, (const char *path, int mode), (path, mode))
LOOK(int, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags))
LOOK(int, euidaccess, (const char *path, int mode), (path, mode))
LOOK(int, eaccess, (const char *path, int mode), (path, mode))
LOOK(char *, realpath, (const char *path, char *to), (path, to))
LOOK(char *, canonicalize_file_name, (const char *path), (path))

HD_INTERPOSE(int, fstat, (int fd, struct stat *st), (fd, st)) {
  hd_shares(HD_SHARED_STREAM, HD_STATE_FILES, HD_LOOKS_AT, HD_RA);
  return REAL(fstat)(fd, st);
}
HD_INTERPOSE(int, fstat64, (int fd, struct stat64 *st), (fd, st)) {
  hd_shares(HD_SHARED_STREAM, HD_STATE_FILES, HD_LOOKS_AT, HD_RA);
  return REAL(fstat64)(fd, st);
}

static ssize_t link_at(int dir, const char *user, char *to, size_t size, uint64_t pc) {
  char in[HD_PATH], out[HD_PATH], text[48];
  if (!hd_active()) return hd_errno_result(hd_sys4(SYS_readlinkat, dir, hd_in_proc_of_child(out, user), to, size));
  const char *path = fetched(in, user, pc), *s = path + sizeof "/proc";
  bool thread = component(&s, "thread-self");
  if ((thread || component(&s, "self")) && !*s) {
    if (size == 0) return hd_errno_result(-EINVAL);
    hd_proc_path(text, "", (uint32_t)hd_pid(), thread ? "/task/" : "");
    if (thread) hd_proc_path(text + hd_strlen(text), "", (uint32_t)gettid(), "");
    uint64_t n = hd_strlen(text);
    if (n > size) n = size;
    hd_to_program(to, text, n);
    return (ssize_t)n;
  }
  return hd_errno_result(hd_sys4(SYS_readlinkat, dir, hd_in_proc(out, path, HD_PROC_LOOK), to, size));
}
HD_INTERPOSE_WHILE(looked_for(path, HD_RA), ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size)) {
  return link_at(AT_FDCWD, path, to, size, HD_RA);
}
HD_INTERPOSE_WHILE(looked_for(path, HD_RA), ssize_t, readlinkat, (int dir, const char *path, char *to, size_t size), (dir, path, to, size)) {
  return link_at(dir, path, to, size, HD_RA);
}
