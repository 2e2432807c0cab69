// forkserver.c: executions in child processes. The carrier, stopped at main, forks once for each
// execution. In the child the hosts' stacks are ordinary memory, which is all a fiber needs.
// While a child runs, only the child writes results.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "core/carrier.h"
#include "core/rings.h"

uint32_t hd_isolation, hd_isolation_granted;
static long child;

bool hd_fork_signal(int sig) {
  return child > 0 && hd_sys(SYS_kill, child, sig, 0) == 0;
}

uint32_t hd_fork_run(uint32_t (*f)(const struct hd_plan *, uint64_t), const struct hd_plan *p, uint64_t index) {
  long server = hd_sys(SYS_getpid, 0, 0, 0);
  int ended = -1;
  long pid = hd_sys6(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, (long)&ended, 0, 0, 0);
  if (pid < 0) hd_fatal("cannot start a process for an execution (error %d): raise the limit on processes (ulimit -u)", (int)-pid);
  if (pid == 0) {
    hd_sys(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
    hd_controller = server; // this process ends when the server does
    hd_sys(SYS_exit_group, hd_sys(SYS_getppid, 0, 0, 0) == server ? f(p, index) : 0, 0, 0);
  }
  return hd_fork_wait(pid, ended);
}

uint32_t hd_fork_wait(long pid, long ended) {
  int status = 0;
  child = pid;
  __atomic_store_n(&hd_shm->executing, (uint32_t)pid, __ATOMIC_RELAXED);
  for (;;) {
    struct pollfd fd = { .fd = (int)ended, .events = POLLIN };
    if (ended >= 0) hd_sys(SYS_poll, &fd, 1, 100);
    long r = hd_sys4(SYS_wait4, pid, &status, ended >= 0 ? WNOHANG : 0, 0);
    if (r == pid || (r < 0 && r != -EINTR)) break;
    if (hd_sys(SYS_getppid, 0, 0, 0) != hd_controller) hd_sys(SYS_exit_group, 0, 0, 0);
  }
  child = 0;
  __atomic_store_n(&hd_shm->executing, 0, __ATOMIC_RELAXED);
  if (ended >= 0) hd_sys(SYS_close, ended, 0, 0);
  uint32_t state = __atomic_load_n(&hd_shm->state, __ATOMIC_SEQ_CST);
  if (state == HD_STATE_REFUSED || state == HD_STATE_FATAL) hd_sys(SYS_exit_group, 125, 0, 0);
  if (WIFSIGNALED(status)) hd_fatal("the process of an execution was ended by signal %d", WTERMSIG(status));
  return (uint32_t)WEXITSTATUS(status);
}
