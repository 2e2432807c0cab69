// debugger.c: variables and a breakpoint for debuggers (internal/target/cprog/gdb.go has the
// commands). Only for threads on kernel threads: a debugger cannot see fibers.
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "core/carrier.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/rings.h"
#include "core/run.h"

#define SHOWN HD_EXPORT __attribute__((used))

// The number of trace events so far and, for the last one, its thread, whether that thread is
// inside the program's code, and its operation.
SHOWN uint32_t heddle_event, heddle_thread, heddle_called;
SHOWN const char *heddle_operation;
SHOWN void *heddle_main; // the program's main
SHOWN uint64_t heddle_text_lo, heddle_text_hi; // the runtime's code

static const char *const names[HD_OP_COUNT] = {
#define HD_OP(name, num, text, cls) [num] = text,
  HD_OPS(HD_OP) HD_GO_OPS(HD_OP)
#undef HD_OP
};

// Breakpoints are set here.
SHOWN __attribute__((noinline)) void heddle_at_event(void) { __asm__ volatile("" ::: "memory"); }
SHOWN __attribute__((noinline)) void heddle_at_failure(void) { __asm__ volatile("" ::: "memory"); }

void hd_debug_begin(void) {
  if (!hd_threads_real) return;
  heddle_main = (void *)hd_program_main;
  for (uint32_t i = 0; i < hd_shm->nmodules; i++)
    if (hd_shm->modules[i].flags & 2) { heddle_text_lo = hd_shm->modules[i].text_lo; heddle_text_hi = hd_shm->modules[i].text_hi; }
  // Some systems let only a parent trace, and the debugger is not the parent.
  hd_sys(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0);
}

void hd_debug_event(const struct hd_thread *t, uint32_t flags) {
  // What the controller leaves out of the trace.
  if (!hd.accesses && (t->pend.op == HD_OP_MALLOC || (t->pend.op == HD_OP_FREE && flags & HD_EV_NODECISION))) return;
  heddle_event++;
  heddle_thread = t->number;
  heddle_operation = names[t->pend.op];
  heddle_called = t->pend.op != HD_OP_THREAD_START && t->pend.pc;
  heddle_at_event();
}

void hd_debug_failure(void) {
  if (hd_threads_real) heddle_at_failure();
}
