// process_exit.c: the end of the process, as an operation.
#define _GNU_SOURCE
#include <stdlib.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "threads/threads.h"

// exit runs the program's handlers as part of the execution: other threads keep running while
// it does. The last handler of all is the runtime's (process/start.c).
//
// The thread has PROCESS_EXIT pending and has been chosen.
static void begin_exit(struct hd_thread *t, int status) {
  if (hd.process_exiting && !t->exiting) { // another thread is already exiting
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
  HD_CALL_MODULES(thread_exits, t);
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

// ---- for the scheduler
static const struct hd_operation operations[] = { { .op = HD_OP_PROCESS_EXIT } }; // blocked: another thread is exiting

const struct hd_registration hd_process_exit = { HD_OPERATIONS(operations) };
