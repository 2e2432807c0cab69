// credentials.c: user and group identifiers, and capabilities. glibc's functions send each thread a signal to make it
// change its credentials. Fibers are not kernel threads and never receive it; they all have the
// credentials of the carrier.
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"

// Reports whether to call the kernel directly, once for all threads. The runtime cannot undo the
// change, so the next execution needs a process of its own.
static bool one_thread(uint64_t pc, const char *what) {
  if (!hd_active() || hd_threads_real) return false;
  hd.cur->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what);
  return true;
}

// What the kernel keeps for each thread, and glibc does not change in all. Threads that start afterwards inherit it, so
// fibers can share it if no other thread exists.
static void one_of_many(uint64_t pc, const char *what) {
  hd.cur->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what);
  if (!hd_threads_real && !hd_only_thread()) hd_unsupported(hd_text("%s beside other threads, which keep their own (--threads can carry it)", what));
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

// These return the value before, and do not fail.
HD_INTERPOSE(int, setfsuid, (uid_t id), (id)) {
  if (id != (uid_t)-1) one_of_many(HD_RA, "setfsuid"); // -1 only asks
  return (int)hd_sys(SYS_setfsuid, id, 0, 0);
}
HD_INTERPOSE(int, setfsgid, (gid_t id), (id)) {
  if (id != (gid_t)-1) one_of_many(HD_RA, "setfsgid"); // -1 only asks
  return (int)hd_sys(SYS_setfsgid, id, 0, 0);
}

// Calls capget or capset with the kernel's identifier in place of the program's.
static int capabilities(long number, const char *what, uint64_t pc, cap_user_header_t user, const void *data) {
  struct __user_cap_header_struct h;
  struct hd_named n;
  hd.cur->pend.pc = pc;
  hd_from_program(&h, user, sizeof h);
  if (!hd_named(h.pid, what, pc, &n)) return (int)hd_errno_result(h.pid < 0 ? -EINVAL : -ESRCH);
  if (hd_threads_real && n.thread && n.thread != hd.cur) hd_unsupported(hd_text("%s of another thread", what));
  int pid = h.pid;
  h.pid = n.thread ? 0 : (int)n.process;
  if (number == SYS_capset && n.thread && n.thread != hd.cur) return (int)hd_errno_result(-EPERM);
  if (number == SYS_capset) one_of_many(pc, what);
  long r = hd_sys(number, &h, data, 0);
  h.pid = pid;
  hd_to_program(user, &h, sizeof h); // the kernel stores the version that it prefers
  return (int)hd_errno_result(r);
}
HD_INTERPOSE(int, capget, (cap_user_header_t header, cap_user_data_t data), (header, data)) {
  return capabilities(SYS_capget, "capget", HD_RA, header, data);
}
HD_INTERPOSE(int, capset, (cap_user_header_t header, const cap_user_data_t data), (header, data)) {
  return capabilities(SYS_capset, "capset", HD_RA, header, data);
}
