// credentials.c: user and group identifiers. glibc's functions send each thread a signal to make it
// change its credentials. Fibers are not kernel threads and never receive it; they all have the
// credentials of the carrier.
#define _GNU_SOURCE
#include <grp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/run.h"

// Reports whether to call the kernel directly, once for all threads. The runtime cannot undo the
// change, so the next execution needs a process of its own.
static bool one_thread(uint64_t pc, const char *what) {
  if (!hd_active() || hd_threads_real) return false;
  hd.cur->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what);
  return true;
}

static int change(long number, long a, long b, long c) { return (int)hd_errno_result(hd_sys(number, a, b, c)); }

// An id of -1 stays as it is.
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setuid"), int, setuid, (uid_t id), (id)) {
  return change(SYS_setuid, id, 0, 0);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setgid"), int, setgid, (gid_t id), (id)) {
  return change(SYS_setgid, id, 0, 0);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "seteuid"), int, seteuid, (uid_t id), (id)) {
  return change(SYS_setresuid, -1, id, -1);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setegid"), int, setegid, (gid_t id), (id)) {
  return change(SYS_setresgid, -1, id, -1);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setreuid"), int, setreuid, (uid_t id, uid_t effective), (id, effective)) {
  return change(SYS_setreuid, id, effective, 0);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setregid"), int, setregid, (gid_t id, gid_t effective), (id, effective)) {
  return change(SYS_setregid, id, effective, 0);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setresuid"), int, setresuid, (uid_t id, uid_t effective, uid_t saved), (id, effective, saved)) {
  return change(SYS_setresuid, id, effective, saved);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setresgid"), int, setresgid, (gid_t id, gid_t effective, gid_t saved), (id, effective, saved)) {
  return change(SYS_setresgid, id, effective, saved);
}
HD_INTERPOSE_WHILE(one_thread(HD_RA, "setgroups"), int, setgroups, (size_t n, const gid_t *groups), (n, groups)) {
  return change(SYS_setgroups, (long)n, (long)groups, 0);
}

// libc's initgroups calls setgroups inside libc, past the interposed function.
HD_INTERPOSE_WHILE(one_thread(HD_RA, "initgroups"), int, initgroups, (const char *user, gid_t group), (user, group)) {
  enum { MOST = 1024 };
  gid_t groups[MOST];
  int n = MOST;
  if (getgrouplist(user, group, groups, &n) < 0) n = MOST;
  return change(SYS_setgroups, n, (long)groups, 0);
}
