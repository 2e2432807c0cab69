// exit.c: how the program starts and ends.
#define _GNU_SOURCE
#include <stdlib.h>
#include "core/rt.h"

// At exit the loader runs the destructors of all modules, once it has had its lock.
static void (*rtld_end)(void);
static void loader_end(void) {
  if (hd_active()) hd_loader_pass(hd.cur->pend.pc);
  rtld_end();
}

HD_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  if (hd_controlled()) {
    hd_program_main = main;
    main = hd_main;
    rtld_end = rtld_fini;
    if (rtld_fini) rtld_fini = loader_end;
  }
  return REAL(__libc_start_main)(main, argc, argv, init, fini, rtld_fini, stack_end);
}

// exit runs the program's handlers as part of the execution: other threads go on while
// it does. The last handler of all is the runtime's (core/attach.c).
//
// The thread has PROCESS_EXIT pending and has been chosen.
static void begin_exit(struct hd_thread *t, int status) {
  if (hd.process_exiting && !t->exiting) { // somebody else is at it
    hd_pend(t, HD_OP_PROCESS_EXIT, t->pend.pc, 0);
    hd_block_forever(t);
  }
  hd.process_exiting = t->exiting = true;
  hd.exit_status = status & 0xff;
  hd.exit_pc = t->pend.pc;
  hd_progress(t);
  hd_commit(t, (uint64_t)(status & 0xff), 0);
}

_Noreturn void hd_exit_chosen(struct hd_thread *t, int status) {
  begin_exit(t, status);
  hd_run_tls_dtors(t); // libc runs its own list of them first, and it is empty
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

// quick_exit runs its own handlers and nothing else. As with exit, the runtime's is the last.
HD_EXPORT void quick_exit(int status) {
  if (hd_active()) {
    struct hd_thread *t = hd.cur;
    hd_pend(t, HD_OP_PROCESS_EXIT, HD_RA, 0);
    if (hd.process_exiting && !t->exiting) hd_block_forever(t);
    hd_point(t);
    begin_exit(t, status);
  }
  if (hd_mode == HD_EARLY) hd.exit_status = status;
  REAL(quick_exit)(status);
  __builtin_unreachable();
}

HD_EXPORT void _exit(int status) {
  if (hd_active()) {
    struct hd_thread *t = hd_op(HD_OP_PROCESS_EXIT, HD_RA, 0);
    hd_commit(t, (uint64_t)(status & 0xff), 0);
    hd_end(HD_OUT_CLEAN, status & 0xff, HD_RA, 0, NULL);
  }
  for (;;) hd_sys(SYS_exit_group, status, 0, 0); // async-signal-safe, like libc's
}
HD_EXPORT void _Exit(int) __attribute__((alias("_exit"), noreturn));

// ---- failure
static _Noreturn void failed(uint32_t outcome, const char *msg, uint64_t pc) {
  if (!hd_active()) {
    REAL(abort)();
    __builtin_unreachable();
  }
  struct hd_thread *t = hd_op(HD_OP_ABORT, pc, 0);
  hd_commit(t, 0, 0);
  hd_end(outcome, 0, pc, 0, msg);
}

const char *hd_base_name(const char *path) {
  const char *b = path;
  for (const char *p = path; *p; p++) if (*p == '/') b = p + 1;
  return b;
}

const char *hd_text(const char *fmt, ...) {
  static char buf[512];
  __builtin_va_list ap;
  __builtin_va_start(ap, fmt);
  hd_format(buf, sizeof buf, fmt, ap);
  __builtin_va_end(ap);
  return buf;
}

HD_EXPORT void __assert_fail(const char *expr, const char *file, unsigned line, const char *func) {
  if (!hd_active()) REAL(__assert_fail)(expr, file, line, func);
  failed(HD_OUT_ASSERT, hd_text("assertion `%s' failed at %s:%u in %s", expr, hd_base_name(file), line, func), HD_RA);
}

HD_EXPORT void __assert_perror_fail(int err, const char *file, unsigned line, const char *func) {
  failed(HD_OUT_ASSERT, hd_text("unexpected error %d at %s:%u in %s", err, hd_base_name(file), line, func), HD_RA);
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
  hd_signal_abort(HD_RA); // may not come back
  struct type_info *(*current)(void) = __cxa_current_exception_type;
  if (!current) *(void **)&current = hd_loader_cxx("__cxa_current_exception_type");
  struct type_info *type = current ? current() : NULL;
  if (type) failed(HD_OUT_EXCEPTION, type->name[0] == '*' ? type->name + 1 : type->name, HD_RA);
  failed(HD_OUT_ASSERT, "abort", HD_RA);
}

HD_EXPORT void __stack_chk_fail(void) { failed(HD_OUT_ASSERT, "stack smashing detected", HD_RA); }
