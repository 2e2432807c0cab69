// credentials.c: who the process is. glibc's functions have every thread change its own credentials,
// by a signal that each must take: fibers are not kernel threads and never receive it. All of
// them have the credentials of the one they run on.
#define _GNU_SOURCE
#include <grp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/run.h"

// Whether the kernel is to be asked for all threads at once. What it grants stays granted:
// the next execution needs a process of its own.
static bool one_thread(uint64_t pc, const char *what) {
  if (!hd_active() || hd_threads_real) return false;
  hd.cur->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what);
  return true;
}

static int change(long number, long a, long b, long c) { return (int)hd_errno_result(hd_sys(number, a, b, c)); }

// An id of -1 stays as it is.
HD_EXPORT int setuid(uid_t id) {
  return one_thread(HD_RA, "setuid") ? change(SYS_setuid, id, 0, 0) : REAL(setuid)(id);
}
HD_EXPORT int setgid(gid_t id) {
  return one_thread(HD_RA, "setgid") ? change(SYS_setgid, id, 0, 0) : REAL(setgid)(id);
}
HD_EXPORT int seteuid(uid_t id) {
  return one_thread(HD_RA, "seteuid") ? change(SYS_setresuid, -1, id, -1) : REAL(seteuid)(id);
}
HD_EXPORT int setegid(gid_t id) {
  return one_thread(HD_RA, "setegid") ? change(SYS_setresgid, -1, id, -1) : REAL(setegid)(id);
}
HD_EXPORT int setreuid(uid_t id, uid_t effective) {
  return one_thread(HD_RA, "setreuid") ? change(SYS_setreuid, id, effective, 0) : REAL(setreuid)(id, effective);
}
HD_EXPORT int setregid(gid_t id, gid_t effective) {
  return one_thread(HD_RA, "setregid") ? change(SYS_setregid, id, effective, 0) : REAL(setregid)(id, effective);
}
HD_EXPORT int setresuid(uid_t id, uid_t effective, uid_t saved) {
  return one_thread(HD_RA, "setresuid") ? change(SYS_setresuid, id, effective, saved) : REAL(setresuid)(id, effective, saved);
}
HD_EXPORT int setresgid(gid_t id, gid_t effective, gid_t saved) {
  return one_thread(HD_RA, "setresgid") ? change(SYS_setresgid, id, effective, saved) : REAL(setresgid)(id, effective, saved);
}
HD_EXPORT int setgroups(size_t n, const gid_t *groups) {
  return one_thread(HD_RA, "setgroups") ? change(SYS_setgroups, (long)n, (long)groups, 0) : REAL(setgroups)(n, groups);
}

// libc's calls its own setgroups.
HD_EXPORT int initgroups(const char *user, gid_t group) {
  if (!one_thread(HD_RA, "initgroups")) return REAL(initgroups)(user, group);
  enum { MOST = 1024 };
  gid_t groups[MOST];
  int n = MOST;
  if (getgrouplist(user, group, groups, &n) < 0) n = MOST;
  return change(SYS_setgroups, n, (long)groups, 0);
}
