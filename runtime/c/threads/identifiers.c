// identifiers.c: identifiers of threads, processes and process groups. The kernel's differ between
// executions, and fibers have none. The program sees numbers that depend on the order of creation only.
//
// The program is the leader of its process group, but not of its session, as if a shell with job control
// had started it. Calls that have no meaning for these numbers are refused (process/unsupported.S).
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"

long hd_kernel_child(int pid) {
  long found = 0;
  HD_EACH_MODULE(m) if (m->child && !found) found = m->child(pid);
  return found;
}

bool hd_named(int id, const char *what, uint64_t pc, struct hd_named *to) {
  enum { MOST_CHILDREN = 1024 };
  hd.cur->pend.pc = pc; // where a bad pointer is reported, too
  *to = (struct hd_named){ .thread = hd.cur };
  if (id == 0) return true;
  if (id < 0) return false;
  uint32_t number = (uint32_t)(id - HD_TID_BASE);
  if (id >= HD_TID_BASE && number < hd.nborn) {
    struct hd_thread *u = to->thread = hd_thread_numbered(number);
    if (number == 0 && !u) hd_unsupported(hd_text("%s of the main thread after its end", what));
    return u && !u->fires && (!u->ended || number == 0);
  }
  to->thread = NULL;
  to->process = id >= HD_CHILD_BASE ? hd_kernel_child(id) : 0;
  if (to->process) return true;
  if (id < HD_CHILD_BASE || id >= HD_CHILD_BASE + MOST_CHILDREN) hd_unsupported(hd_text("%s of another process", what));
  return false;
}

// Outside of an execution: the kernel's answer, as a child of the program sees it.
static pid_t seen(long nr, long id) { return hd_identity_seen(hd_errno_result(hd_sys(nr, id, 0, 0))); }

HD_EXPORT pid_t getpid(void) { return hd_active() ? hd_pid() : seen(SYS_getpid, 0); }
HD_EXPORT pid_t gettid(void) {
  hd_shares(HD_SHARED_THREAD, HD_STATE_THREAD_NUMBERS, HD_LOOKS_AT, HD_RA);
  return hd_active() ? hd_pid() + (pid_t)hd.cur->number : seen(SYS_gettid, 0);
}
HD_EXPORT pid_t getppid(void) { return hd_active() ? hd_pid() - 1 : seen(SYS_getppid, 0); }
HD_EXPORT pid_t getpgrp(void) { return hd_active() ? hd_pid() : seen(SYS_getpgid, 0); }

// Returns the group or session of a process: own for the program and for children that are in the same one.
static pid_t of(int pid, int nr, pid_t own, const char *what, uint64_t pc) {
  struct hd_named n;
  if (!hd_active()) return seen(nr, hd_identity_kernels(pid));
  if (!hd_named(pid, what, pc, &n)) return (pid_t)hd_errno_result(-ESRCH);
  if (n.thread) return own;
  hd.result.notes |= HD_NOTE_EXTERNAL;
  long r = hd_sys(nr, n.process, 0, 0);
  if (r < 0) return (pid_t)hd_errno_result(r);
  if (r == n.process) return pid;
  if (r != hd_sys(nr, 0, 0, 0)) hd_unsupported(hd_text("%s of a child process in a group or session that is neither its own nor the program's", what));
  return own;
}
HD_EXPORT pid_t getpgid(pid_t pid) { return of(pid, SYS_getpgid, hd_pid(), "getpgid", HD_RA); }
HD_EXPORT pid_t getsid(pid_t pid) { return of(pid, SYS_getsid, hd_pid() - 1, "getsid", HD_RA); }

HD_INTERPOSE(int, setpgid, (pid_t pid, pid_t group), ((pid_t)hd_identity_kernels(pid), (pid_t)hd_identity_kernels_group(group))) {
  struct hd_named n;
  if (group < 0) return (int)hd_errno_result(-EINVAL);
  if (!hd_named(pid, "setpgid", HD_RA, &n)) return (int)hd_errno_result(-ESRCH);
  if (!n.thread) hd_unsupported("setpgid of a child process");
  if (n.thread->number != 0 && pid != 0) return (int)hd_errno_result(-EINVAL); // the kernel's answer for a thread's identifier
  if (group != 0 && group != hd_pid()) hd_unsupported("setpgid to another process group");
  return 0;
}
HD_INTERPOSE(int, setpgrp, (void), ()) { return 0; }
HD_EXPORT pid_t setsid(void) { return hd_active() ? (pid_t)hd_errno_result(-EPERM) /* the leader of a group cannot */ : seen(SYS_setsid, 0); }
