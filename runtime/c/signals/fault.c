// fault.c: faults that the program handles itself. The kernel calls the runtime's handler
// (crash.c) on the carrier's stack for signals; the program's must run on the thread's
// own, where other threads may be scheduled and which it may leave by a jump. So the
// runtime's handler copies what the kernel saved there and returns into hd_handle_fault.
#define _GNU_SOURCE
#include <signal.h>
#include "arch/context.h"
#include "core/fiber.h"
#include "core/interrupts.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/side_stack.h"
#include "signals/signals.h"

enum { AGAIN = 100, ROOM = 16 << 10 };

struct fault {
  siginfo_t info;
  ucontext_t context;
};

static _Noreturn void hd_handle_fault(struct fault *f) {
  struct hd_thread *t = hd.cur;
  uintptr_t side_top = hd_side_below(hd_context_sp(&f->context)); // a hook that faulted may go on
  int sig = f->info.si_signo;
  uint64_t kernel_mask = *(uint64_t *)&f->context.uc_sigmask;
  uint64_t pc = hd_context_pc(&f->context);
  bool same = t->signals.fault_pc == pc && t->signals.fault_at == hd.points;
  t->signals.fault_pc = pc;
  t->signals.fault_at = hd.points;
  t->signals.faults = same ? t->signals.faults + 1 : 1;
  if (t->signals.faults > AGAIN) hd_end(HD_OUT_HANG, 0, pc + 1, (uint64_t)f->info.si_addr, "a signal handler returns again and again to the instruction that faults");
  bool in_operation = hd.open;
  hd_commit_failed();
  struct sigaction act = hd_actions[sig];
  // A fault is not a scheduling decision: the thread always faults here.
  if (!hd_in_runtime(pc)) t->pend.pc = pc + 1;
  hd_note(t, HD_OP_SIGNAL_DELIVER, (uint64_t)act.sa_handler, 0, (uint64_t)sig);
  hd_run_handler(t, &act, &f->info, &f->context, 0, side_top);
  if (in_operation) hd_unsupported("a handler that returns to a synchronisation operation which faulted");
  if (hd_mode != HD_CHILD) *(uint64_t *)&f->context.uc_sigmask = kernel_mask; // else: the handler forked
  hd_context_resume(&f->context);
}

bool hd_fault(int sig, void *info, void *context) {
  struct hd_thread *t = hd.cur;
  ucontext_t *c = context;
  const struct sigaction *act = &hd_actions[sig];
  if (t->signals.mask & hd_bit(sig)) return false; // fatal in POSIX; so is one in its own handler
  uintptr_t sp = hd_context_sp(c), lo, hi;
  if (hd_on_side(sp)) sp = hd_program_sp();
  lo = hd_stack_lo(t);
  hi = t->index == 0 ? hd_main_sp + (1 << 20) : hd_stack_hi(t);
  if (hd_on_alt_stack(t, sp)) {
    lo = t->signals.alt_lo;
  } else if (act->sa_flags & SA_ONSTACK && t->signals.alt_size) {
    lo = t->signals.alt_lo;
    sp = t->signals.alt_lo + t->signals.alt_size;
  } else if (sp < lo || sp >= hi) {
    return false; // no stack to run on
  }
  uint64_t extra = hd_context_extra(c);
  uintptr_t at = (sp - HD_RED_ZONE - extra) & ~63ull, frame = (at - sizeof(struct fault)) & ~63ull;
  if (frame < lo || frame - lo < 2048 || extra > ROOM) return false;
  struct fault *f = (struct fault *)frame;
  hd_copy(&f->info, info, sizeof f->info);
  hd_context_copy(&f->context, c, at);
  hd_context_call(c, (void *)hd_handle_fault, f, frame);
  return true;
}
