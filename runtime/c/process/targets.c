// targets.c: calls that name a process by its identifier and are about its limits or its memory.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/run.h"
#include "memory/heap.h"
#include "memory/shared_state.h"
#include "threads/threads.h"

static bool process_of(int pid, const char *what, uint64_t pc, long *to) {
  struct hd_named n;
  if (!hd_named(pid, what, pc, &n)) return false;
  *to = n.thread ? hd_sys(SYS_getpid, 0, 0, 0) : n.process;
  return true;
}

// A new limit of the program itself outlives the execution; asking does not.
static void limits(enum __rlimit_resource resource, const char *what) {
  if (hd_active()) hd_require_isolation(HD_ISOLATION_FORK, what);
  if (resource == RLIMIT_DATA) hd_heap_open_all();
}

HD_INTERPOSE(int, prlimit, (pid_t pid, enum __rlimit_resource resource, const struct rlimit *new, struct rlimit *old), ((pid_t)hd_identity_kernels(pid), resource, new, old)) {
  long to;
  if (!process_of(pid, "prlimit", HD_RA, &to)) return (int)hd_errno_result(-ESRCH);
  hd_shares(HD_SHARED_PROCESS, HD_STATE_LIMITS, new ? HD_CHANGES : HD_LOOKS_AT, HD_RA);
  if (new) limits(resource, "prlimit");
  return (int)hd_errno_result(hd_sys4(SYS_prlimit64, to, resource, new, old));
}
HD_EXPORT int prlimit64(pid_t, enum __rlimit_resource, const struct rlimit64 *, struct rlimit64 *) __attribute__((alias("prlimit")));

HD_INTERPOSE_CONTROLLED(int, setrlimit, (enum __rlimit_resource resource, const struct rlimit *new), (resource, new)) {
  if (hd_active()) hd.cur->pend.pc = HD_RA;
  hd_shares(HD_SHARED_PROCESS, HD_STATE_LIMITS, HD_CHANGES, HD_RA);
  limits(resource, "setrlimit");
  return REAL(setrlimit)(resource, new);
}
HD_EXPORT int setrlimit64(enum __rlimit_resource, const struct rlimit64 *) __attribute__((alias("setrlimit")));

HD_INTERPOSE(ssize_t, process_vm_readv, (pid_t pid, const struct iovec *local, unsigned long n, const struct iovec *remote, unsigned long m, unsigned long flags), ((pid_t)hd_identity_kernels(pid), local, n, remote, m, flags)) {
  long to;
  if (pid == 0 || !process_of(pid, "process_vm_readv", HD_RA, &to)) return hd_errno_result(-ESRCH);
  return hd_errno_result(hd_sys6(SYS_process_vm_readv, to, (long)local, (long)n, (long)remote, (long)m, (long)flags));
}
HD_INTERPOSE(ssize_t, process_vm_writev, (pid_t pid, const struct iovec *local, unsigned long n, const struct iovec *remote, unsigned long m, unsigned long flags), ((pid_t)hd_identity_kernels(pid), local, n, remote, m, flags)) {
  long to;
  if (pid == 0 || !process_of(pid, "process_vm_writev", HD_RA, &to)) return hd_errno_result(-ESRCH);
  return hd_errno_result(hd_sys6(SYS_process_vm_writev, to, (long)local, (long)n, (long)remote, (long)m, (long)flags));
}
