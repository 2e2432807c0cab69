// abort.c: failures that the program reports: assertions and abort.
#define _GNU_SOURCE
#include <stdlib.h>
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/sched.h"
#include "signals/signals.h"
#include "loader/loader.h"

static _Noreturn void failed(uint32_t outcome, const char *msg, uint64_t pc) {
  if (!hd_active()) {
    REAL(abort)();
    __builtin_unreachable();
  }
  struct hd_thread *t = hd_op(HD_OP_ABORT, pc, 0);
  hd_commit(t, 0, 0);
  hd_end(outcome, 0, pc, 0, msg);
}

HD_EXPORT void __assert_fail(const char *expr, const char *file, unsigned line, const char *func) {
  if (!hd_active()) REAL(__assert_fail)(expr, file, line, func);
  // The words say whether the text is an expression of the source or was made by the program; the
  // identity of the failure depends on it (internal/finding).
  const char *how = hd_is_constant((uint64_t)expr) ? "assertion `%s' failed at %s:%u in %s" : "assertion failed: %s at %s:%u in %s";
  failed(HD_OUT_ASSERT, hd_text(how, expr, hd_base_name(file), line, func), HD_RA);
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
  hd_signal_abort(HD_RA); // may not return
  struct type_info *(*current)(void) = __cxa_current_exception_type;
  if (!current) *(void **)&current = hd_loader_cxx("__cxa_current_exception_type");
  struct type_info *type = current ? current() : NULL;
  if (type) failed(HD_OUT_EXCEPTION, type->name[0] == '*' ? type->name + 1 : type->name, HD_RA);
  failed(HD_OUT_ASSERT, "abort", HD_RA);
}

HD_EXPORT void __stack_chk_fail(void) { failed(HD_OUT_ASSERT, "stack smashing detected", HD_RA); }
