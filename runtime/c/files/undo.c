// undo.c: restores the files and directories that an execution changed before the next one begins.
// A file's content is copied before it is opened for writing, truncated or removed; names that were
// created, removed or renamed are undone in reverse order. Later executions use the same copies.
//
// Not restored: access times (unless the program sets them), inode numbers of files that were
// removed, hard links to them, the times of another user's file.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/socket.h"
#include "files/files.h"

enum { MAX_UNDO = 8192, MAX_KEPT = 4096, TEXT = 8 << 20, PATH = 4096 };
static const uint64_t MOST = 64ull << 20, MOST_ALL = 512ull << 20;

struct kept { const char *path; uint64_t size; struct timespec mtime; mode_t mode; char *bytes; };
struct undo {
  enum { CREATED, CONTENT, GONE, LINK_GONE, MOVED, DIR_MADE, DIR_GONE, MODE_SET, OWNER_SET, TIMES_SET } what;
  const char *path, *to; // absolute
  const struct kept *kept;
  mode_t mode;
  uid_t uid; // for OWNER_SET and TIMES_SET only
  gid_t gid;
  struct timespec times[2];
  int flags; // AT_SYMLINK_NOFOLLOW or 0
};
static struct undo *steps;
static struct kept *kept;
static uint32_t nsteps, nkept;
static uint64_t kept_bytes;
static char *text, *kept_text; // names: of this execution, and of all
static uint64_t text_used, kept_text_used;
static struct { uint64_t dev, ino; } seen[MAX_UNDO]; // files whose content need not be copied again
static uint32_t nseen;
static bool creating;
static char created[PATH];

static void start(void) {
  if (steps) return;
  steps = hd_map(sizeof *steps * MAX_UNDO, "the undo log");
  kept = hd_map(sizeof *kept * MAX_KEPT, "kept files");
  text = hd_map(TEXT, "names of files");
  kept_text = hd_map(TEXT, "names of files");
}

static const char *name_in(char *pool, uint64_t *used, const char *s) {
  uint64_t n = hd_strlen(s) + 1;
  if (*used + n > TEXT) hd_unsupported("changes to too many files in one execution");
  char *p = pool + *used;
  hd_copy(p, s, n);
  *used += n;
  return p;
}

static void count(uint32_t n) {
  nsteps = n;
  __atomic_store_n(&hd_shm->changes, n, __ATOMIC_RELAXED);
}

static struct undo *step(int what, const char *path) {
  start();
  if (nsteps == MAX_UNDO) hd_unsupported("more than 8192 changes to files in one execution");
  struct undo *u = &steps[nsteps];
  *u = (struct undo){ .what = what, .path = name_in(text, &text_used, path) };
  count(nsteps + 1);
  return u;
}

static uint64_t name_of(char *out, int fd) { // 0: the file has no name
  char link[HD_FD_PATH];
  long r = hd_sys(SYS_readlink, hd_fd_path(link, fd), out, PATH - 1);
  out[r > 0 ? r : 0] = 0;
  return r > 0 ? (uint64_t)r : 0;
}

// Names are stored as absolute paths: the working directory may change.
static const char *absolute(char *out, int dir, const char *path) {
  uint64_t n = 0;
  if (path[0] != '/') {
    if (dir == AT_FDCWD) {
      long k = hd_sys(SYS_getcwd, out, PATH, 0);
      if (k <= 0) hd_unsupported("a file named relative to a directory that was removed");
      n = (uint64_t)k - 1;
    } else {
      n = name_of(out, dir);
      if (!n) return out; // the call will fail, too
    }
    out[n++] = '/';
  }
  uint64_t len = hd_strlen(path) + 1;
  if (n + len > PATH) { out[0] = 0; return out; }
  hd_copy(out + n, path, len);
  return out;
}

static bool look(int dir, const char *path, struct stat *st, bool follow) {
  return hd_sys4(SYS_newfstatat, dir, path, st, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

static bool known(const struct stat *st) {
  for (uint32_t i = 0; i < nseen; i++)
    if (seen[i].dev == st->st_dev && seen[i].ino == st->st_ino) return true;
  return false;
}
static void learn(const struct stat *st) {
  if (nseen == MAX_UNDO) hd_unsupported("writing to more than 8192 files in one execution");
  seen[nseen].dev = st->st_dev;
  seen[nseen++].ino = st->st_ino;
}

static const struct kept *keep(const char *path, const struct stat *st) {
  start();
  uint64_t size = (uint64_t)st->st_size;
  for (uint32_t i = nkept; i--;) {
    struct kept *k = &kept[i];
    if (k->size == size && k->mtime.tv_sec == st->st_mtim.tv_sec && k->mtime.tv_nsec == st->st_mtim.tv_nsec && k->mode == st->st_mode && hd_streq(k->path, path)) return k;
  }
  if (size > MOST) hd_unsupported("writing to, or removing, a file of more than 64 MB that existed before: it could not be restored");
  if (kept_bytes + size > MOST_ALL) hd_unsupported("writing to more than 512 MB of files that existed before: they could not be restored");
  if (nkept == MAX_KEPT) hd_unsupported("writing to more than 4096 files that existed before");
  long fd = hd_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) hd_unsupported("writing to, or removing, a file that cannot be read: it could not be restored");
  struct kept *k = &kept[nkept];
  k->bytes = hd_map(size + 1, "a file's content");
  uint64_t at = 0;
  for (long n; at < size && (n = hd_sys(SYS_read, fd, k->bytes + at, size - at)) > 0;) at += (uint64_t)n;
  hd_sys(SYS_close, fd, 0, 0);
  k->path = name_in(kept_text, &kept_text_used, path);
  k->size = at;
  k->mtime = st->st_mtim;
  k->mode = st->st_mode;
  kept_bytes += size;
  nkept++;
  return k;
}

// The content of an existing file, before it can change.
static void content(int dir, const char *path, bool follow) {
  struct stat st;
  char full[PATH];
  if (!look(dir, path, &st, follow) || !S_ISREG(st.st_mode) || known(&st)) return;
  absolute(full, dir, path);
  const struct kept *k = keep(full, &st);
  step(CONTENT, full)->kept = k;
  learn(&st);
}

// A file that the program reads, as it was before the execution.
HD_ON_SIDE_STACK(void, hd_input, (int dir, const char *path)) {
  struct stat st;
  char full[PATH];
  if (!look(dir, path, &st, true) || !S_ISREG(st.st_mode) || known(&st)) return;
  absolute(full, dir, path);
  hd_out(HD_REC_INPUT, full, (uint32_t)hd_strlen(full) + 1);
}
static void input(int dir, const char *path) {
  if (hd.record) hd_input(dir, path);
}

// Called before an execution changes a file. Two processes that did so at the same time could not both
// put it back as it was.
static void changing(void) {
  if (HD_UNLIKELY(hd_shm->options & HD_OPT_BESIDE)) hd_unsupported("a change to a file, beside other processes of the program");
}

void hd_undo_open(int dir, const char *path, int flags) {
  struct stat st;
  creating = false;
  if (!(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY && !(flags & O_TRUNC)) input(dir, path);
  if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) return;
  if ((flags & O_TMPFILE) == O_TMPFILE || flags & O_PATH) return;
  changing();
  if (look(dir, path, &st, true)) {
    if ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC) content(dir, path, true);
    return;
  }
  creating = flags & O_CREAT;
  if (creating) absolute(created, dir, path);
}

void hd_undo_opened(long fd) {
  struct stat st;
  bool made = creating;
  creating = false;
  if (!made || (fd < 0 && fd != AT_FDCWD)) return;
  step(CREATED, created);
  if (look(AT_FDCWD, created, &st, true)) {
    learn(&st);
    hd_inode_made(&st);
  }
}

// Before a name is removed.
static void losing(int dir, const char *path) {
  struct stat st;
  char full[PATH], target[PATH];
  if (!look(dir, path, &st, false)) return;
  absolute(full, dir, path);
  if (S_ISLNK(st.st_mode)) {
    long n = hd_sys(SYS_readlink, full, target, PATH - 1);
    if (n < 0) return;
    target[n] = 0;
    struct undo *u = step(LINK_GONE, full);
    u->to = name_in(text, &text_used, target);
    return;
  }
  if (!S_ISREG(st.st_mode)) hd_unsupported("removing a socket, FIFO or device: it could not be restored");
  // A file that this execution created is restored too, only to be removed: without its content.
  if (known(&st)) {
    step(GONE, full)->mode = st.st_mode;
    return;
  }
  const struct kept *k = keep(full, &st);
  struct undo *u = step(GONE, full);
  u->kept = k;
  u->mode = st.st_mode;
}

// ---- restoring
static void failed(const char *path, long err) { hd_fatal("cannot put %s back as it was before the execution (error %d)", path, (int)-err); }

static void fill(const struct undo *u, int flags) {
  const struct kept *k = u->kept;
  mode_t mode = k ? k->mode & 07777 : u->mode & 07777;
  long fd = hd_sys4(SYS_openat, AT_FDCWD, u->path, O_WRONLY | O_CLOEXEC | flags, 0600);
  if (fd == -EACCES) {
    hd_sys(SYS_chmod, u->path, mode | 0200, 0);
    fd = hd_sys4(SYS_openat, AT_FDCWD, u->path, O_WRONLY | O_CLOEXEC | flags, 0600);
  }
  if (fd < 0) failed(u->path, fd);
  if (k) {
    hd_sys(SYS_ftruncate, fd, k->size, 0);
    for (uint64_t at = 0; at < k->size;) {
      long n = hd_sys4(SYS_pwrite64, fd, k->bytes + at, k->size - at, at);
      if (n <= 0) failed(u->path, n);
      at += (uint64_t)n;
    }
  }
  hd_sys(SYS_fchmod, fd, mode, 0);
  if (k) {
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, k->mtime };
    hd_sys4(SYS_utimensat, fd, NULL, times, 0);
  }
  hd_sys(SYS_close, fd, 0, 0);
}

void hd_undo(void) {
  while (nsteps) {
    const struct undo *u = &steps[nsteps - 1];
    long r = 0;
    switch (u->what) {
    case CREATED: r = hd_sys(SYS_unlink, u->path, 0, 0); if (r == -ENOENT) r = 0; break;
    case CONTENT: fill(u, 0); break;
    case GONE: fill(u, O_CREAT); break;
    case LINK_GONE: r = hd_sys(SYS_symlink, u->to, u->path, 0); break;
    case MOVED: r = hd_sys(SYS_rename, u->to, u->path, 0); break;
    case DIR_MADE: r = hd_sys(SYS_rmdir, u->path, 0, 0); break;
    case DIR_GONE: r = hd_sys(SYS_mkdir, u->path, u->mode, 0); break;
    case OWNER_SET:
      r = hd_sys6(SYS_fchownat, AT_FDCWD, (long)u->path, u->uid, u->gid, u->flags, 0);
      if (r < 0 || S_ISLNK(u->mode)) break; // a change of owner may have cleared set-user-ID, so:
      // fall through
    case MODE_SET: r = hd_sys(SYS_chmod, u->path, u->mode & 07777, 0); break;
    case TIMES_SET:
      r = hd_sys4(SYS_utimensat, AT_FDCWD, u->path, u->times, u->flags);
      if (r == -EPERM) r = 0; // a user who may only write to a file may set its times to now only
      break;
    }
    if (r < 0) failed(u->path, r);
    count(nsteps - 1);
  }
  nseen = 0;
  text_used = 0;
}

// ---- the calls
//
// All names are one object: creating a name and looking it up are dependent.
static struct hd_thread *point(uint64_t pc) {
  changing();
  return hd_io_point(HD_OP_FD_CTL, pc, 1ull << HD_FD_OBJECT_BIT | (uint64_t)HD_FD_FILE << HD_FD_KIND_SHIFT | 0xfffull << HD_FD_SHIFT, -1, 0, NULL);
}
static int finish(struct hd_thread *t, long r) {
  hd_io_done(t, 0, r < 0 ? -r : 0);
  return (int)hd_errno_result(r);
}
#define NAME(to, from, pc) do { hd.cur->pend.pc = (pc); if (!hd_fetch_string(to, from, PATH)) return (int)hd_errno_result(-ENAMETOOLONG); } while (0)

static int unlink_at(int dir, const char *user, int flags, uint64_t pc) {
  char path[PATH], full[PATH];
  struct stat st;
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_unlinkat, dir, user, flags));
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  if (!flags && hd_addr_unlink(path)) return finish(t, 0);
  if (flags & AT_REMOVEDIR) {
    bool is = look(dir, path, &st, false);
    long r = hd_sys(SYS_unlinkat, dir, path, flags);
    if (r == 0 && is) step(DIR_GONE, absolute(full, dir, path))->mode = st.st_mode & 07777;
    return finish(t, r);
  }
  if (look(dir, path, &st, false) && S_ISDIR(st.st_mode)) return finish(t, -EISDIR);
  uint32_t before = nsteps;
  losing(dir, path);
  long r = hd_sys(SYS_unlinkat, dir, path, flags);
  if (r < 0) count(before);
  return finish(t, r);
}

static int rename_at(int from_dir, const char *from_user, int to_dir, const char *to_user, unsigned flags, uint64_t pc) {
  char from[PATH], to[PATH], full[PATH];
  struct stat st, old;
  if (!hd_active()) return (int)hd_errno_result(hd_sys6(SYS_renameat2, from_dir, (long)from_user, to_dir, (long)to_user, flags, 0));
  NAME(from, from_user, pc);
  NAME(to, to_user, pc);
  if (flags & ~1u /* RENAME_NOREPLACE */) hd_unsupported("renameat2 with RENAME_EXCHANGE or RENAME_WHITEOUT");
  struct hd_thread *t = point(pc);
  uint32_t before = nsteps;
  if (look(from_dir, from, &st, false) && look(to_dir, to, &old, false) && !(flags & 1)) {
    if (st.st_dev == old.st_dev && st.st_ino == old.st_ino) return finish(t, 0);
    if (S_ISDIR(old.st_mode)) step(DIR_GONE, absolute(full, to_dir, to))->mode = old.st_mode & 07777;
    else losing(to_dir, to);
  }
  struct undo *u = step(MOVED, absolute(full, from_dir, from));
  u->to = name_in(text, &text_used, absolute(full, to_dir, to));
  long r = hd_sys6(SYS_renameat2, from_dir, (long)from, to_dir, (long)to, flags, 0);
  if (r < 0) count(before);
  return finish(t, r);
}

static int mkdir_at(int dir, const char *user, mode_t mode, uint64_t pc) {
  char path[PATH], full[PATH];
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_mkdirat, dir, user, mode));
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  long r = hd_sys(SYS_mkdirat, dir, path, mode);
  if (r == 0) {
    absolute(full, dir, path);
    for (uint64_t n = hd_strlen(full); n > 1 && full[n - 1] == '/';) full[--n] = 0;
    step(DIR_MADE, full);
    struct stat st;
    if (look(dir, path, &st, false)) hd_inode_made(&st);
  }
  return finish(t, r);
}

static int link_at(const char *target_user, int target_dir, int dir, const char *user, bool symbolic, int flags, uint64_t pc) {
  char target[PATH], path[PATH], full[PATH];
  if (!hd_active()) return (int)hd_errno_result(symbolic ? hd_sys(SYS_symlinkat, target_user, dir, user) : hd_sys6(SYS_linkat, target_dir, (long)target_user, dir, (long)user, flags, 0));
  NAME(target, target_user, pc);
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  long r = symbolic ? hd_sys(SYS_symlinkat, target, dir, path) : hd_sys6(SYS_linkat, target_dir, (long)target, dir, (long)path, flags, 0);
  if (r == 0) step(CREATED, absolute(full, dir, path));
  return finish(t, r);
}

static int truncate_at(const char *user, off_t size, uint64_t pc) {
  char path[PATH];
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_truncate, user, size, 0));
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  content(AT_FDCWD, path, true);
  return finish(t, hd_sys(SYS_truncate, path, size, 0));
}

// A file's metadata before it is changed. path is NULL if dir is its
// own descriptor.
struct attributes { bool known; char path[PATH]; struct stat st; int flags; };

static void attributes(struct attributes *a, int dir, const char *path, int flags) {
  a->flags = flags & AT_SYMLINK_NOFOLLOW;
  a->path[0] = 0;
  if (path) a->known = look(dir, path, &a->st, !a->flags) && absolute(a->path, dir, path)[0];
  else a->known = hd_sys(SYS_fstat, dir, &a->st, 0) == 0 && a->st.st_nlink && name_of(a->path, dir);
}

static int changed(struct hd_thread *t, int what, const struct attributes *a, long r) {
  if (r == 0 && a->known) {
    struct undo *u = step(what, a->path);
    u->mode = a->st.st_mode;
    u->uid = a->st.st_uid;
    u->gid = a->st.st_gid;
    u->times[0] = a->st.st_atim;
    u->times[1] = a->st.st_mtim;
    u->flags = a->flags;
  }
  return finish(t, r);
}

static int chmod_at(int dir, const char *user, mode_t mode, uint64_t pc) {
  char path[PATH];
  struct attributes a;
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_fchmodat, dir, user, mode));
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  attributes(&a, dir, path, 0);
  return changed(t, MODE_SET, &a, hd_sys(SYS_fchmodat, dir, path, mode));
}

static int chown_at(int dir, const char *user, uid_t uid, gid_t gid, int flags, uint64_t pc) {
  char path[PATH];
  struct attributes a;
  if (!hd_active()) return (int)hd_errno_result(hd_sys6(SYS_fchownat, dir, (long)user, uid, gid, flags, 0));
  NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  if (flags & AT_EMPTY_PATH && !path[0] && hd_reserved_fd(dir)) return finish(t, -EBADF);
  attributes(&a, dir, flags & AT_EMPTY_PATH && !path[0] ? NULL : path, flags);
  return changed(t, OWNER_SET, &a, hd_sys6(SYS_fchownat, dir, (long)path, uid, gid, flags, 0));
}

// user is NULL if dir is the file's own descriptor; times is NULL for now, and heddle's memory otherwise.
static int times_at(int dir, const char *user, const struct timespec *times, int flags, uint64_t pc) {
  char path[PATH];
  struct attributes a;
  if (!hd_active()) return (int)hd_errno_result(hd_sys4(SYS_utimensat, dir, user, times, flags));
  if (user) NAME(path, user, pc);
  struct hd_thread *t = point(pc);
  if (!user && hd_reserved_fd(dir)) return finish(t, -EBADF);
  attributes(&a, dir, user ? path : NULL, flags);
  return changed(t, TIMES_SET, &a, hd_sys4(SYS_utimensat, dir, user ? path : NULL, times, flags));
}

// From the program's memory, which may be missing; also when heddle is not in control.
static void take(void *to, const void *user, uint32_t size, uint64_t pc) {
  if (hd_active()) hd_fetch(to, user, size, pc);
  else hd_copy(to, user, size);
}
static const struct timespec *fetch_timespec(struct timespec to[2], const struct timespec *user, uint64_t pc) {
  if (!user) return NULL;
  take(to, user, 2 * sizeof *to, pc);
  return to;
}
static const struct timespec *fetch_timeval(struct timespec to[2], const struct timeval *user, uint64_t pc) {
  struct timeval tv[2];
  if (!user) return NULL;
  take(tv, user, sizeof tv, pc);
  for (int i = 0; i < 2; i++) to[i] = (struct timespec){ tv[i].tv_sec, tv[i].tv_usec < 0 || tv[i].tv_usec >= 1000000 ? -1 : tv[i].tv_usec * 1000 };
  return to;
}
static const struct timespec *fetch_utimbuf(struct timespec to[2], const struct utimbuf *user, uint64_t pc) {
  struct utimbuf ub;
  if (!user) return NULL;
  take(&ub, user, sizeof ub, pc);
  to[0] = (struct timespec){ .tv_sec = ub.actime };
  to[1] = (struct timespec){ .tv_sec = ub.modtime };
  return to;
}

HD_EXPORT int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0, HD_RA); }
HD_EXPORT int unlinkat(int dir, const char *path, int flags) { return unlink_at(dir, path, flags, HD_RA); }
HD_EXPORT int rmdir(const char *path) { return unlink_at(AT_FDCWD, path, AT_REMOVEDIR, HD_RA); }
HD_EXPORT int remove(const char *path) {
  int r = unlink_at(AT_FDCWD, path, 0, HD_RA);
  return r < 0 && errno == EISDIR ? unlink_at(AT_FDCWD, path, AT_REMOVEDIR, HD_RA) : r;
}
HD_EXPORT int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0, HD_RA); }
HD_EXPORT int renameat(int a, const char *from, int b, const char *to) { return rename_at(a, from, b, to, 0, HD_RA); }
HD_EXPORT int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return rename_at(a, from, b, to, flags, HD_RA); }
HD_EXPORT int mkdir(const char *path, mode_t mode) { return mkdir_at(AT_FDCWD, path, mode, HD_RA); }
HD_EXPORT int mkdirat(int dir, const char *path, mode_t mode) { return mkdir_at(dir, path, mode, HD_RA); }
HD_EXPORT int link(const char *a, const char *b) { return link_at(a, AT_FDCWD, AT_FDCWD, b, false, 0, HD_RA); }
HD_EXPORT int linkat(int x, const char *a, int y, const char *b, int flags) { return link_at(a, x, y, b, false, flags, HD_RA); }
HD_EXPORT int symlink(const char *a, const char *b) { return link_at(a, AT_FDCWD, AT_FDCWD, b, true, 0, HD_RA); }
HD_EXPORT int symlinkat(const char *a, int dir, const char *b) { return link_at(a, AT_FDCWD, dir, b, true, 0, HD_RA); }
HD_EXPORT int truncate(const char *path, off_t size) { return truncate_at(path, size, HD_RA); }
HD_EXPORT int truncate64(const char *, off_t) __attribute__((alias("truncate")));
HD_EXPORT int chmod(const char *path, mode_t mode) { return chmod_at(AT_FDCWD, path, mode, HD_RA); }
HD_EXPORT int fchmodat(int dir, const char *path, mode_t mode, int flags) { (void)flags; return chmod_at(dir, path, mode, HD_RA); }
HD_EXPORT int fchmod(int fd, mode_t mode) {
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_fchmod, fd, mode, 0));
  struct attributes a;
  struct hd_thread *t = point(HD_RA);
  if (hd_reserved_fd(fd)) return finish(t, -EBADF);
  attributes(&a, fd, NULL, 0);
  return changed(t, MODE_SET, &a, hd_sys(SYS_fchmod, fd, mode, 0));
}
HD_EXPORT int chown(const char *path, uid_t uid, gid_t gid) { return chown_at(AT_FDCWD, path, uid, gid, 0, HD_RA); }
HD_EXPORT int lchown(const char *path, uid_t uid, gid_t gid) { return chown_at(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW, HD_RA); }
HD_EXPORT int fchown(int fd, uid_t uid, gid_t gid) { return chown_at(fd, "", uid, gid, AT_EMPTY_PATH, HD_RA); }
HD_EXPORT int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags) { return chown_at(dir, path, uid, gid, flags, HD_RA); }
HD_EXPORT int utimensat(int dir, const char *path, const struct timespec times[2], int flags) {
  struct timespec ts[2];
  return times_at(dir, path, fetch_timespec(ts, times, HD_RA), flags, HD_RA);
}
HD_EXPORT int futimens(int fd, const struct timespec times[2]) {
  struct timespec ts[2];
  return times_at(fd, NULL, fetch_timespec(ts, times, HD_RA), 0, HD_RA);
}
HD_EXPORT int utimes(const char *path, const struct timeval times[2]) {
  struct timespec ts[2];
  return times_at(AT_FDCWD, path, fetch_timeval(ts, times, HD_RA), 0, HD_RA);
}
HD_EXPORT int lutimes(const char *path, const struct timeval times[2]) {
  struct timespec ts[2];
  return times_at(AT_FDCWD, path, fetch_timeval(ts, times, HD_RA), AT_SYMLINK_NOFOLLOW, HD_RA);
}
HD_EXPORT int futimes(int fd, const struct timeval times[2]) {
  struct timespec ts[2];
  return times_at(fd, NULL, fetch_timeval(ts, times, HD_RA), 0, HD_RA);
}
HD_EXPORT int futimesat(int dir, const char *path, const struct timeval times[2]) {
  struct timespec ts[2];
  return times_at(dir, path, fetch_timeval(ts, times, HD_RA), 0, HD_RA);
}
HD_EXPORT int utime(const char *path, const struct utimbuf *times) {
  struct timespec ts[2];
  return times_at(AT_FDCWD, path, fetch_utimbuf(ts, times, HD_RA), 0, HD_RA);
}
