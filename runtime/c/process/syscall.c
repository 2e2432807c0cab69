// syscall.c: system calls made through libc's syscall(), or with the instruction (instructions.c). A
// call that corresponds to an interposed function of libc goes to that function. A few that only
// query, or affect only the caller's memory, go to the kernel. Any other is refused by its number.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <linux/capability.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"
#include "threads/threads.h"
#include "sync/sync.h"
#include "process/process.h"

extern int capget(cap_user_header_t, cap_user_data_t), capset(cap_user_header_t, const cap_user_data_t);

static HD_COLD _Noreturn void refuse(const char *fmt, ...) {
  static char what[96];
  va_list ap;
  va_start(ap, fmt);
  hd_format(what, sizeof what, fmt, ap);
  va_end(ap);
  hd_unsupported(what);
}

long hd_system_call(long n, const long a[6], uint64_t pc, bool instruction) {
  hd.cur->pend.pc = pc;
#define P(i) ((void *)a[i])
#define I(i) ((int)a[i])
  switch (n) {
  case SYS_futex: return hd_futex(P(0), I(1), (uint32_t)a[2], P(3), (uint32_t)a[5], pc);
  case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: hd_unsupported("a process or thread started by a raw system call");
  case SYS_execve: case SYS_execveat: hd_unsupported("execve by a raw system call");
  case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_arch_prctl: hd_unsupported("a raw system call that changes signals or the thread pointer");
  case SYS_exit: hd_unsupported("exit by a raw system call");
  case SYS_exit_group: _exit(I(0));
  // identifiers and random numbers
  case SYS_gettid: return gettid();
  case SYS_getpid: return getpid();
  case SYS_getppid: return getppid();
  case SYS_getpgrp: return getpgrp();
  case SYS_getpgid: return getpgid(I(0));
  case SYS_getsid: return getsid(I(0));
  case SYS_setpgid: return setpgid(I(0), I(1));
  case SYS_setsid: return setsid();
  case SYS_getcpu: return getcpu(P(0), P(1));
  case SYS_getrandom: return getrandom(P(0), (size_t)a[1], (unsigned)a[2]);
  case SYS_sched_getaffinity: return sched_getaffinity(I(0), (size_t)a[1], P(2)) < 0 ? -1 : 8;
  case SYS_sched_setaffinity: return sched_setaffinity(I(0), (size_t)a[1], P(2));
  case SYS_sched_getscheduler: return sched_getscheduler(I(0));
  case SYS_sched_setscheduler: return sched_setscheduler(I(0), I(1), P(2));
  case SYS_sched_getparam: return sched_getparam(I(0), P(1));
  case SYS_sched_setparam: return sched_setparam(I(0), P(1));
  case SYS_sched_rr_get_interval: return sched_rr_get_interval(I(0), P(1));
  case SYS_sched_getattr: return hd_errno_result(hd_sched_getattr(I(0), P(1), (uint32_t)a[2], (uint32_t)a[3], pc));
  case SYS_sched_setattr: return hd_errno_result(hd_sched_setattr(I(0), P(1), (uint32_t)a[2], pc));
  case SYS_getpriority: return hd_errno_result(hd_priority_get(I(0), I(1), pc)); // libc's returns another value
  case SYS_setpriority: return hd_errno_result(hd_priority_set(I(0), I(1), I(2), pc));
  case SYS_prctl: return hd_prctl(I(0), (const unsigned long *)a + 1, pc);
  case SYS_prlimit64: return prlimit(I(0), I(1), P(2), P(3));
  case SYS_capget: return capget(P(0), P(1));
  case SYS_capset: return capset(P(0), P(1));
  case SYS_setfsuid: return setfsuid((uid_t)a[0]);
  case SYS_setfsgid: return setfsgid((gid_t)a[0]);
  case SYS_process_vm_readv: return process_vm_readv(I(0), P(1), (unsigned long)a[2], P(3), (unsigned long)a[4], (unsigned long)a[5]);
  case SYS_process_vm_writev: return process_vm_writev(I(0), P(1), (unsigned long)a[2], P(3), (unsigned long)a[4], (unsigned long)a[5]);
  case SYS_sched_yield: return sched_yield();
  case SYS_tgkill: return tgkill(I(0), I(1), I(2));
  case SYS_tkill: return tgkill(hd_pid(), I(0), I(1));
  case SYS_rt_sigsuspend: case SYS_rt_sigtimedwait: case SYS_rt_sigqueueinfo: case SYS_rt_tgsigqueueinfo: case SYS_sigaltstack:
  case SYS_pause: case SYS_alarm: case SYS_setitimer: case SYS_timer_create: case SYS_timer_settime: case SYS_signalfd4:
    hd_unsupported("a raw system call for signals or timers");
  case SYS_kill: return kill(I(0), I(1));
  // time
  case SYS_clock_gettime: return clock_gettime(I(0), P(1));
  case SYS_clock_getres: return clock_getres(I(0), P(1));
  case SYS_gettimeofday: return gettimeofday(P(0), P(1));
  case SYS_time: return time(P(0));
  case SYS_times: return times(P(0));
  case SYS_getrusage: return getrusage(I(0), P(1));
  case SYS_nanosleep: return nanosleep(P(0), P(1));
  case SYS_clock_nanosleep: {
    int err = clock_nanosleep(I(0), I(1), P(2), P(3));
    return err ? (errno = err, -1) : 0;
  }
  // memory
  case SYS_mmap: return (long)mmap(P(0), (size_t)a[1], I(2), I(3), I(4), a[5]);
  case SYS_munmap: return munmap(P(0), (size_t)a[1]);
  // descriptors
  case SYS_read: return read(I(0), P(1), (size_t)a[2]);
  case SYS_write: return write(I(0), P(1), (size_t)a[2]);
  case SYS_readv: return readv(I(0), P(1), I(2));
  case SYS_writev: return writev(I(0), P(1), I(2));
  case SYS_pread64: return pread(I(0), P(1), (size_t)a[2], a[3]);
  case SYS_pwrite64: return pwrite(I(0), P(1), (size_t)a[2], a[3]);
  case SYS_preadv: return preadv(I(0), P(1), I(2), a[3]);
  case SYS_pwritev: return pwritev(I(0), P(1), I(2), a[3]);
  case SYS_open: return open(P(0), I(1), (mode_t)a[2]);
  case SYS_openat: return openat(I(0), P(1), I(2), (mode_t)a[3]);
  case SYS_creat: return creat(P(0), (mode_t)a[1]);
  case SYS_close: return close(I(0));
  case SYS_close_range: return close_range((unsigned)a[0], (unsigned)a[1], I(2));
  case SYS_dup: return dup(I(0));
  case SYS_dup2: return dup2(I(0), I(1));
  case SYS_dup3: return dup3(I(0), I(1), I(2));
  case SYS_fcntl: return fcntl(I(0), I(1), a[2]);
  case SYS_ioctl: return ioctl(I(0), (unsigned long)a[1], a[2]);
  case SYS_lseek: return lseek(I(0), a[1], I(2));
  case SYS_pipe: return pipe(P(0));
  case SYS_pipe2: return pipe2(P(0), I(1));
  case SYS_eventfd: return eventfd((unsigned)a[0], 0);
  case SYS_eventfd2: return eventfd((unsigned)a[0], I(1));
  case SYS_timerfd_create: return timerfd_create(I(0), I(1));
  case SYS_timerfd_settime: return timerfd_settime(I(0), I(1), P(2), P(3));
  case SYS_timerfd_gettime: return timerfd_gettime(I(0), P(1));
  case SYS_poll: return poll(P(0), (nfds_t)a[1], I(2));
  case SYS_select: return select(I(0), P(1), P(2), P(3), P(4));
  case SYS_epoll_create: return epoll_create(I(0));
  case SYS_epoll_create1: return epoll_create1(I(0));
  case SYS_epoll_ctl: return epoll_ctl(I(0), I(1), I(2), P(3));
  case SYS_epoll_wait: return epoll_wait(I(0), P(1), I(2), I(3));
  case SYS_socket: return socket(I(0), I(1), I(2));
  case SYS_socketpair: return socketpair(I(0), I(1), I(2), P(3));
  case SYS_bind: return bind(I(0), P(1), (socklen_t)a[2]);
  case SYS_listen: return listen(I(0), I(1));
  case SYS_connect: return connect(I(0), P(1), (socklen_t)a[2]);
  case SYS_accept: return accept(I(0), P(1), P(2));
  case SYS_accept4: return accept4(I(0), P(1), P(2), I(3));
  case SYS_shutdown: return shutdown(I(0), I(1));
  case SYS_sendto: return sendto(I(0), P(1), (size_t)a[2], I(3), P(4), (socklen_t)a[5]);
  case SYS_recvfrom: return recvfrom(I(0), P(1), (size_t)a[2], I(3), P(4), P(5));
  case SYS_sendmsg: return sendmsg(I(0), P(1), I(2));
  case SYS_recvmsg: return recvmsg(I(0), P(1), I(2));
  case SYS_getsockopt: return getsockopt(I(0), I(1), I(2), P(3), P(4));
  case SYS_setsockopt: return setsockopt(I(0), I(1), I(2), P(3), (socklen_t)a[4]);
  case SYS_getsockname: return getsockname(I(0), P(1), P(2));
  case SYS_getpeername: return getpeername(I(0), P(1), P(2));
  // the file system
  case SYS_unlink: return unlink(P(0));
  case SYS_unlinkat: return unlinkat(I(0), P(1), I(2));
  case SYS_rename: return rename(P(0), P(1));
  case SYS_renameat: return renameat(I(0), P(1), I(2), P(3));
  case SYS_renameat2: return renameat2(I(0), P(1), I(2), P(3), (unsigned)a[4]);
  case SYS_mkdir: return mkdir(P(0), (mode_t)a[1]);
  case SYS_mkdirat: return mkdirat(I(0), P(1), (mode_t)a[2]);
  case SYS_rmdir: return rmdir(P(0));
  case SYS_link: return link(P(0), P(1));
  case SYS_symlink: return symlink(P(0), P(1));
  case SYS_truncate: return truncate(P(0), a[1]);
  case SYS_chmod: return chmod(P(0), (mode_t)a[1]);
  case SYS_fchmod: return fchmod(I(0), (mode_t)a[1]);
  case SYS_chown: return chown(P(0), (uid_t)a[1], (gid_t)a[2]);
  case SYS_lchown: return lchown(P(0), (uid_t)a[1], (gid_t)a[2]);
  case SYS_fchown: return fchown(I(0), (uid_t)a[1], (gid_t)a[2]);
  case SYS_fchownat: return fchownat(I(0), P(1), (uid_t)a[2], (gid_t)a[3], I(4));
  case SYS_utimensat: return P(1) ? utimensat(I(0), P(1), P(2), I(3)) : futimens(I(0), P(2));
  case SYS_stat: return stat(P(0), P(1));
  case SYS_lstat: return lstat(P(0), P(1));
  case SYS_newfstatat: return fstatat(I(0), P(1), P(2), I(3));
  case SYS_statx: return statx(I(0), P(1), I(2), (unsigned)a[3], P(4));
  case SYS_access: return access(P(0), I(1));
  case SYS_faccessat: return faccessat(I(0), P(1), I(2), 0);
  case SYS_readlink: return readlink(P(0), P(1), (size_t)a[2]);
  case SYS_readlinkat: return readlinkat(I(0), P(1), P(2), (size_t)a[3]);
  case SYS_chdir: return chdir(P(0));
  case SYS_fchdir: return fchdir(I(0));
  case SYS_umask: return (long)umask((mode_t)a[0]);
  // queries and memory barriers
  case SYS_fstat: return fstat(I(0), P(1));
  case SYS_ftruncate: return ftruncate(I(0), a[1]);
  case SYS_getrlimit: return getrlimit((enum __rlimit_resource)a[0], P(1));
  case SYS_membarrier: case SYS_uname: case SYS_sysinfo: case SYS_getuid: case SYS_geteuid: case SYS_getgid: case SYS_getegid:
  case SYS_getcwd: case SYS_getdents64: case SYS_fsync: case SYS_fdatasync: case SYS_madvise: case SYS_mincore:
    return hd_errno_result(hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]));
  }
  if (instruction) refuse("the system call number %ld made by an instruction in %s", n, hd_module_name(pc));
  refuse("the system call number %ld made with syscall()", n);
}

// In a child of the program: calls about identifiers, which are not the kernel's there.
static bool about_identifiers(long n, const long a[6], long *r) {
  if (hd_mode != HD_CHILD) return false;
  switch (n) {
  case SYS_getpid: *r = getpid(); return true;
  case SYS_gettid: *r = gettid(); return true;
  case SYS_getppid: *r = getppid(); return true;
  case SYS_getpgrp: *r = getpgrp(); return true;
  case SYS_getpgid: *r = getpgid(I(0)); return true;
  case SYS_getsid: *r = getsid(I(0)); return true;
  case SYS_setpgid: *r = setpgid(I(0), I(1)); return true;
  case SYS_setsid: *r = setsid(); return true;
  case SYS_kill: *r = kill(I(0), I(1)); return true;
  case SYS_tgkill: *r = tgkill(I(0), I(1), I(2)); return true;
  case SYS_tkill: *r = tgkill(getpid(), I(0), I(1)); return true;
  }
  return false;
}

HD_EXPORT long syscall(long n, ...) {
  va_list ap;
  va_start(ap, n);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(ap, long);
  va_end(ap);
  long r;
  if (about_identifiers(n, a, &r)) return r;
  if (!hd_active()) return hd_errno_result(hd_child_syscall(n, a));
  return hd_system_call(n, a, hd.cur->library_pc ? hd.cur->library_pc : HD_RA, false);
}
