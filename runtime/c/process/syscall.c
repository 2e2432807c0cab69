// syscall.c: system calls made through libc's syscall(), or with the instruction (instructions.c). system_calls.def
// says what happens to each.
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
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "threads/threads.h"
#include "signals/signals.h"
#include "sync/sync.h"
#include "io/blocking.h"
#include "process/process.h"

extern int pidfd_open(pid_t, unsigned), pidfd_send_signal(int, int, siginfo_t *, unsigned);
extern int capget(cap_user_header_t, cap_user_data_t), capset(cap_user_header_t, const cap_user_data_t);

#define P(i) ((void *)a[i])
#define I(i) ((int)a[i])

static HD_COLD _Noreturn void refuse(const char *fmt, ...) {
  static char what[160];
  va_list ap;
  va_start(ap, fmt);
  hd_format(what, sizeof what, fmt, ap);
  va_end(ap);
  hd_unsupported(what);
}

static HD_COLD _Noreturn void refuse_call(const char *name, const char *part, uint64_t pc, bool instruction) {
  const char *open = *part ? " (" : "", *close = *part ? ")" : "";
  if (instruction) refuse("the system call %s%s%s%s, made by an instruction in %s", name, open, part, close, hd_module_name(pc));
  refuse("the system call %s%s%s%s, made with syscall()", name, open, part, close);
}

// ---- calls that libc's function makes in another form
static long clock_sleep(const long a[6]) {
  int err = clock_nanosleep(I(0), I(1), P(2), P(3));
  return err ? (errno = err, -1) : 0;
}

// The kernel's sets of signals have eight bytes.
enum { SET = 8 };
static long mask(const long a[6], uint64_t pc) {
  sigset_t old;
  if (a[3] != SET) return errno = EINVAL, -1;
  int err = hd_signal_mask(I(0), P(1), P(2) ? &old : NULL, pc);
  if (err) return errno = err, -1;
  if (P(2)) hd_to_program(P(2), &old, SET);
  return 0;
}
static long signal_descriptor(const long a[6], int flags) {
  if (a[2] != SET) return errno = EINVAL, -1;
  return signalfd(I(0), P(1), flags);
}
static long pending(void *to) {
  sigset_t all;
  sigpending(&all);
  hd_to_program(to, &all, SET);
  return 0;
}

// Linux stores the time that is left; libc's functions hide it.
static void time_left(struct timespec *to, uint64_t before) {
  uint64_t ns = hd_ns_of(to), gone = hd.vtime - before, left = gone < ns ? ns - gone : 0;
  if (ns >= HD_BAD_NS) return;
  struct timespec t = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
  hd_to_program(to, &t, sizeof t);
}
static long masked_poll(const long a[6]) {
  uint64_t before = hd.vtime;
  long r = ppoll(P(0), (nfds_t)a[1], P(2), P(3));
  time_left(P(2), before);
  return r;
}
static long masked_select(const long a[6]) {
  struct { const sigset_t *set; size_t size; } masked = { 0 };
  uint64_t before = hd.vtime;
  if (P(5)) hd_from_program(&masked, P(5), sizeof masked);
  long r = pselect(I(0), P(1), P(2), P(3), P(4), masked.set);
  time_left(P(4), before);
  return r;
}
static long wait_for(const long a[6]) {
  if (P(4)) hd_unsupported("the system call waitid for the use of resources, made with syscall()");
  return waitid((idtype_t)a[0], (id_t)a[1], P(2), I(3));
}

long hd_system_call(long n, const long a[6], uint64_t pc, bool instruction) {
  enum { GAP = 337, AFTER_GAP = 424 }; // Linux will never use the numbers between
  hd.cur->pend.pc = hd.cur->raw_pc = pc;
  switch (n) {
#define MODELLED(number, name, expression) case number: return expression;
#define KERNEL(number, name, why) case number: return hd_errno_result(hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]));
#define ISOLATED(number, name) \
  case number: \
    hd_require_isolation(HD_ISOLATION_FORK, #name); \
    return hd_errno_result(hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]));
#define ABSENT(number, name, why) case number: return errno = ENOSYS, -1;
#define REFUSED(number, name, part, why) case number: refuse_call(#name, part, pc, instruction);
#include "process/system_calls.def"
#undef MODELLED
#undef KERNEL
#undef ISOLATED
#undef ABSENT
#undef REFUSED
  }
  if (n < 0 || (n >= GAP && n < AFTER_GAP)) return errno = ENOSYS, -1;
  if (instruction) refuse("system call number %ld, which this heddle does not know, made by an instruction in %s", n, hd_module_name(pc));
  refuse("system call number %ld, which this heddle does not know, made with syscall()", n);
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
