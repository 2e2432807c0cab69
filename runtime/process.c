// process.c: how the program starts and ends.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include "rt.h"

HD_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  if (hd_controlled()) {
    hd_program_main = main;
    main = hd_main;
  }
  return REAL(__libc_start_main)(main, argc, argv, init, fini, rtld_fini, stack_end);
}

// exit runs the program's handlers as part of the execution: other threads go on while
// it does. The last handler of all is the runtime's (mode.c).
//
// hd_exit_chosen: the thread has PROCESS_EXIT pending and has been chosen.
_Noreturn void hd_exit_chosen(struct hd_thread *t, int status) {
  if (hd.process_exiting && !t->exiting) { // somebody else is at it
    hd_pend(t, HD_OP_PROCESS_EXIT, t->pend.pc, 0);
    hd_block_forever(t);
  }
  hd.process_exiting = t->exiting = true;
  hd.exit_status = status & 0xff;
  hd_progress(t);
  hd_commit(t, (uint64_t)(status & 0xff), 0);
  REAL(exit)(status);
  __builtin_unreachable();
}

_Noreturn void hd_exit(int status, uint64_t pc) {
  if (hd_active()) {
    struct hd_thread *t = hd.cur;
    hd_pend(t, HD_OP_PROCESS_EXIT, pc, 0);
    if (hd.process_exiting && !t->exiting) hd_block_forever(t);
    hd_point(t);
    hd_exit_chosen(t, status);
  }
  if (hd_mode == HD_EARLY) hd.exit_status = status;
  REAL(exit)(status);
  __builtin_unreachable();
}

HD_EXPORT void exit(int status) {
  hd_exit(status, HD_RA);
}

HD_EXPORT void _exit(int status) {
  if (hd_active()) {
    struct hd_thread *t = hd_op(HD_OP_PROCESS_EXIT, HD_RA, 0);
    hd_commit(t, (uint64_t)(status & 0xff), 0);
    hd_end(HD_OUT_CLEAN, status & 0xff, 0, 0, NULL);
  }
  for (;;) hd_sys(SYS_exit_group, status, 0, 0); // async-signal-safe, like libc's
}
HD_EXPORT void _Exit(int) __attribute__((alias("_exit"), noreturn));

// ---- failure
static _Noreturn void failed(uint32_t outcome, const char *msg, uint64_t pc) {
  struct hd_thread *t = hd_op(HD_OP_ABORT, pc, 0);
  hd_commit(t, 0, 0);
  hd_end(outcome, 0, pc, 0, msg);
}

static const char *base(const char *path) {
  const char *b = path;
  for (const char *p = path; *p; p++) if (*p == '/') b = p + 1;
  return b;
}

static const char *text(const char *fmt, ...) {
  static char buf[512];
  __builtin_va_list ap;
  __builtin_va_start(ap, fmt);
  hd_format(buf, sizeof buf, fmt, ap);
  __builtin_va_end(ap);
  return buf;
}

HD_EXPORT void __assert_fail(const char *expr, const char *file, unsigned line, const char *func) {
  if (!hd_active()) REAL(__assert_fail)(expr, file, line, func);
  failed(HD_OUT_ASSERT, text("assertion `%s' failed at %s:%u in %s", expr, base(file), line, func), HD_RA);
}

HD_EXPORT void __assert_perror_fail(int err, const char *file, unsigned line, const char *func) {
  failed(HD_OUT_ASSERT, text("unexpected error %d at %s:%u in %s", err, base(file), line, func), HD_RA);
}

HD_EXPORT void __assert(const char *expr, const char *file, int line) {
  __assert_fail(expr, file, (unsigned)line, "?");
}

struct type_info { void *vtable; const char *name; };
extern struct type_info *__cxa_current_exception_type(void) __attribute__((weak));

HD_EXPORT void abort(void) {
  if (!hd_active()) {
    REAL(abort)();
    __builtin_unreachable();
  }
  struct type_info *type = __cxa_current_exception_type ? __cxa_current_exception_type() : NULL;
  if (type) failed(HD_OUT_EXCEPTION, type->name[0] == '*' ? type->name + 1 : type->name, HD_RA);
  failed(HD_OUT_ASSERT, "abort", HD_RA);
}

HD_EXPORT void __stack_chk_fail(void) { failed(HD_OUT_ASSERT, "stack smashing detected", HD_RA); }

// ---- signals
//
// No signal reaches the program from outside while it is controlled, and dispositions
// and masks are the program's own business, so they are kept here and not in the kernel,
// whose state would outlive the execution.
static struct sigaction actions[NSIG];
void hd_outcome_signals_reset(void) { hd_fill(actions, 0, sizeof actions); }

HD_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
  if (!hd_active()) return REAL(sigaction)(sig, act, old);
  if (sig < 1 || sig >= NSIG || sig == SIGKILL || sig == SIGSTOP) { errno = EINVAL; return -1; }
  if (old) *old = actions[sig];
  if (act) actions[sig] = *act;
  return 0;
}

HD_EXPORT void (*signal(int sig, void (*handler)(int)))(int) {
  if (!hd_active()) return (void (*)(int))REAL(signal)(sig, (void *)handler);
  struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
  return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static int mask(int how, const sigset_t *set, sigset_t *old) {
  struct hd_thread *t = hd.cur;
  uint64_t now = t->sigmask;
  if (set) {
    uint64_t s = *(const uint64_t *)set;
    switch (how) {
    case SIG_BLOCK: t->sigmask |= s; break;
    case SIG_UNBLOCK: t->sigmask &= ~s; break;
    case SIG_SETMASK: t->sigmask = s; break;
    default: return EINVAL;
    }
  }
  if (old) {
    hd_fill(old, 0, sizeof *old);
    *(uint64_t *)old = now;
  }
  return 0;
}
HD_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return hd_active() ? mask(how, set, old) : REAL(pthread_sigmask)(how, set, old);
}
HD_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  if (!hd_active()) return REAL(sigprocmask)(how, set, old);
  int err = mask(how, set, old);
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_EXPORT int raise(int sig) {
  if (!hd_active()) return REAL(raise)(sig);
  if (sig < 1 || sig >= NSIG) { errno = EINVAL; return -1; }
  void *h = (void *)actions[sig].sa_handler;
  if (h == (void *)SIG_IGN) return 0;
  if (h != (void *)SIG_DFL) hd_unsupported("a signal raised to the program's own handler");
  if (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT) return 0;
  struct hd_thread *t = hd_op(HD_OP_ABORT, HD_RA, 0);
  hd_commit(t, (uint64_t)sig, 0);
  hd_end(sig == SIGABRT ? HD_OUT_ASSERT : HD_OUT_SIGNAL, sig == SIGABRT ? 0 : sig, HD_RA, 0, sig == SIGABRT ? "abort" : NULL);
}

HD_EXPORT int kill(int pid, int sig) {
  if (!hd_active()) return REAL(kill)(pid, sig);
  if (sig == 0) return 0;
  if (pid != 0 && pid != (int)hd_sys(SYS_getpid, 0, 0, 0)) hd_unsupported("kill of another process");
  return raise(sig);
}
