// fault.c: faults that the program handles itself. The kernel calls the runtime's handler
// (core/outcome.c) on the carrier's stack for signals; the program's must run on the thread's
// own, where other threads may be scheduled and where it may be left by a jump. So the
// runtime's handler puts what the kernel saved there and returns into hd_handle_fault.
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#include "core/rt.h"
#include "signals/signals.h"

enum { AGAIN = 100, RED_ZONE = 128, ROOM = 16 << 10, FX_SIZE = 512, XSTATE_MAGIC = 0x46505853 };

struct fault {
  siginfo_t info;
  ucontext_t context;
};

extern _Noreturn void hd_resume(ucontext_t *);

static _Noreturn void hd_handle_fault(struct fault *f) {
  struct hd_thread *t = hd.cur;
  int sig = f->info.si_signo;
  uint64_t kernel_mask = *(uint64_t *)&f->context.uc_sigmask;
  uint64_t pc = (uint64_t)f->context.uc_mcontext.gregs[REG_RIP];
  bool same = t->fault_pc == pc && t->fault_at == hd.points;
  t->fault_pc = pc;
  t->fault_at = hd.points;
  t->faults = same ? t->faults + 1 : 1;
  if (t->faults > AGAIN) hd_end(HD_OUT_HANG, 0, pc + 1, (uint64_t)f->info.si_addr, "a signal handler returns again and again to the instruction that faults");
  bool in_operation = hd.open;
  hd_commit_failed();
  struct sigaction act = hd_actions[sig];
  // A fault is not a choice: the thread would always have had it here.
  if (!hd_in_runtime(pc)) t->pend.pc = pc + 1;
  hd_note(t, HD_OP_SIGNAL_DELIVER, (uint64_t)act.sa_handler, 0, (uint64_t)sig);
  hd_run_handler(t, &act, &f->info, &f->context);
  if (in_operation) hd_unsupported("a handler that returns to a synchronisation operation which faulted");
  *(uint64_t *)&f->context.uc_sigmask = kernel_mask;
  hd_resume(&f->context);
}

bool hd_fault(int sig, void *info, void *context) {
  struct hd_thread *t = hd.cur;
  ucontext_t *c = context;
  const struct sigaction *act = &hd_actions[sig];
  if (t->sigmask & hd_bit(sig)) return false; // fatal, says POSIX; so is one in its own handler
  uintptr_t sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP], lo, hi;
  lo = t->stack_hi ? t->stack_lo : t->donor ? t->donor->lo : hd_main_sp - ((8 << 20) - (512 << 10));
  hi = t->stack_hi ? t->stack_hi : t->donor ? t->donor->hi : hd_main_sp + (1 << 20);
  if (hd_on_alt_stack(t, sp)) {
    lo = t->alt_lo;
  } else if (act->sa_flags & SA_ONSTACK && t->alt_size) {
    lo = t->alt_lo;
    sp = t->alt_lo + t->alt_size;
  } else if (sp < lo || sp >= hi) {
    return false; // no stack to run on
  }
  char *fp = (char *)c->uc_mcontext.fpregs;
  uint64_t fpsize = 0;
  if (fp) fpsize = *(uint32_t *)(fp + 464) == XSTATE_MAGIC ? *(uint32_t *)(fp + 468) : FX_SIZE;
  uintptr_t at = (sp - RED_ZONE - fpsize) & ~63ull, frame = (at - sizeof(struct fault)) & ~63ull;
  if (frame < lo || frame - lo < 2048 || fpsize > ROOM) return false;
  struct fault *f = (struct fault *)frame;
  hd_copy(&f->info, info, sizeof f->info);
  hd_copy(&f->context, c, offsetof(ucontext_t, uc_sigmask) + 8);
  if (fp) {
    hd_copy((void *)at, fp, fpsize);
    f->context.uc_mcontext.fpregs = (void *)at;
  }
  c->uc_mcontext.gregs[REG_RIP] = (long long)(uintptr_t)hd_handle_fault;
  c->uc_mcontext.gregs[REG_RDI] = (long long)frame;
  c->uc_mcontext.gregs[REG_RSP] = (long long)(frame - 8); // as after a call
  c->uc_mcontext.gregs[REG_EFL] &= ~0x400ll;              // direction flag
  return true;
}
