// crash.c: the kernel's signals: tells failures of the program from failures of the runtime.
#define _GNU_SOURCE
#include <signal.h>
#include "arch/context.h"
#include "core/carrier.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/injection.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/visits.h"
#include "signals/signals.h"

enum { ALT_STACK = 256 << 10, CUT = SIGURG };

static bool progaccess(uint64_t pc) {
  extern char __start_hd_progaccess[] __attribute__((visibility("hidden")));
  extern char __stop_hd_progaccess[] __attribute__((visibility("hidden")));
  return pc >= (uint64_t)__start_hd_progaccess && pc < (uint64_t)__stop_hd_progaccess;
}

// A call of an address that is not code: report the call, and begin the stack there.
static void step_back(ucontext_t *c, const siginfo_t *info) {
  uint64_t pc = hd_context_pc(c), sp = hd_context_sp(c), back;
  if (info->si_code <= 0 || (uint64_t)info->si_addr != pc || hd_late_gone(pc)) return;
  back = hd_word_at(sp, sizeof back);
  if (back) hd_context_set(c, back - HD_CALL_SIZE, sp + sizeof back); // in the call
}

// Reports whether a fault is that of a thread whose stack is used up: in the guard below it or, if a frame is larger than that,
// near a stack pointer that has left the stack.
static bool overflows(const ucontext_t *c, const siginfo_t *info) {
  enum { FRAME = 64 << 20, NEAR = 64 << 10 };
  const struct hd_thread *t = hd.cur;
  uintptr_t lo = hd_stack_lo(t), at = (uintptr_t)info->si_addr, sp = hd_context_sp(c);
  if (info->si_signo != SIGSEGV || info->si_code <= 0 || info->si_code == SI_KERNEL || !lo) return false;
  return lo - 1 - at < HD_STACK_GUARD || (lo - 1 - sp < FRAME && at - (sp - NEAR) < 2 * NEAR);
}

// Describes a fault at an address of a library that was unloaded.
static const char *unloaded(uint64_t pc, uint64_t addr) {
  const char *code = hd_late_gone(pc), *data = code ? NULL : hd_late_gone(addr);
  if (code) return hd_text("in the code of %s, which was unloaded", hd_base_name(code));
  return data ? hd_text("at memory of %s, which was unloaded", hd_base_name(data)) : NULL;
}

static void on_fatal(int sig, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  if (hd_mode == HD_ACTIVE && hd_arrival_aside(info)) return;
  if (sig == SIGSEGV && info->si_code == SEGV_ACCERR && hd_visit(hd_context_pc(c), (uint64_t)info->si_addr)) return;
  if (sig == SIGTRAP && info->si_code > 0 && hd_inject_step(c)) return;
  if (info->si_code > 0 && hd_context_fix_up(c)) return;
  if (sig == SIGSEGV && info->si_code == SI_KERNEL && hd_timestamp(c)) return;
  hd_event_forget();
  if (hd_inject_open) hd_inject_drop();
  hd_context_step(c, false);
  uint64_t pc = hd_context_pc(c);
  if (hd_mode == HD_EARLY) {
    if (hd_in_runtime(pc) && !progaccess(pc)) hd_fatal("signal %d in the runtime before main (offset %lx)", sig, hd_runtime_offset(pc));
    hd_refuse("the program died of signal %d before main", sig);
  }
  if (hd_unwinding) { // a broken stack: continue with what is known
    void (*resume)(void) = hd_to_carrier;
    uint64_t none = 0;
    hd_unwinding = false;
    hd_out(HD_REC_BACKTRACE, &none, 0);
    resume();
  }
  if (hd_mode == HD_ACTIVE && overflows(c, info) && !hd_signal_handled(sig)) hd_stack_overflow(hd_in_runtime(pc) ? hd.cur->pend.pc : pc + 1);
  if (hd_mode != HD_ACTIVE || (hd_in_runtime(pc) && !progaccess(pc) && info->si_code > 0)) {
    hd_shm->fatal_pc = pc;
    hd_fatal("signal %d in the runtime (address %lx, at offset %lx)", sig, (uint64_t)info->si_addr, hd_runtime_offset(pc));
  }
  if (sig == SIGPIPE && hd_signal_ignored(sig)) return;
  if (sig == SIGPIPE && hd_signal_handled(sig)) { hd_signal_kernel(sig); return; }
  if (sig != SIGABRT && info->si_code > 0 && hd_signal_handled(sig) && hd_fault(sig, info, context)) return;
  hd_side_top = 0; // the backtrace may begin there
  if (hd_loading && !hd_in_loader(pc)) hd_late_look();
  uint64_t addr = sig == SIGABRT ? 0 : (uint64_t)info->si_addr;
  step_back(c, info);
  pc = hd_context_pc(c);
  // In a hook that touches memory for the program, the program's instruction is the
  // pending one.
  uint64_t site = hd_in_runtime(pc) ? hd.cur->pend.pc : pc + 1;
  if (hd_in_system(site)) { // where in libc it faults depends on whether a hook has read the memory before
    hd_foretell(HD_OUT_SIGNAL, sig, site, addr); // should the unwinder fault
    uint64_t call = hd_program_call();
    if (call) site = call;
  }
  if (sig == SIGABRT) { // libc's own abort: malloc_printerr, __fortify_fail, …
    hd_end(HD_OUT_ASSERT, 0, site, 0, "abort in libc");
  }
  hd_commit_failed();
  hd_signal_event(sig, site, addr);
  hd_end(HD_OUT_SIGNAL, sig, site, addr, unloaded(pc, addr));
}

// The controller asks to end the execution where it is (hd_shm.cut). In the program's code, or in a system call, it ends
// at the interrupted instruction. In a hook it ends at the next scheduling point, recorded access or end of a quiet stretch; the
// controller repeats the signal, so an execution without any ends once the signal comes outside of hooks.
static void on_cut(int sig, siginfo_t *info, void *context) {
  if (hd_mode == HD_ACTIVE && hd_arrival_aside(info)) return;
  if (hd_mode != HD_ACTIVE) {
    hd_fork_signal(sig);
    return;
  }
  uint32_t cut = __atomic_load_n(&hd_shm->cut, __ATOMIC_ACQUIRE);
  if (!cut || __atomic_load_n(&hd_shm->cut_execution, __ATOMIC_RELAXED) != __atomic_load_n(&hd_shm->executions, __ATOMIC_RELAXED)) return;
  hd_cut_asked = true;
  uint64_t pc = hd_context_pc(context);
  if (hd_in_runtime(pc)) {
    hd.plan.max_steps = hd.points;
    return;
  }
  hd_pend(hd.cur, HD_OP_NONE, pc + 1, 0); // it is between two operations
  HD_EACH_MODULE(m) {
    const char *what = cut == HD_CUT_WATCHDOG && m->stuck ? m->stuck(pc) : NULL;
    if (!what) continue;
    hd_cut_asked = false;
    hd_unsupported(what);
  }
  hd_cut(pc + 1, 0);
}

struct kernel_sigaction { void *handler; unsigned long flags; void *restorer; uint64_t mask; };
static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE };

uint64_t hd_crash_set(void) {
  uint64_t set = hd_bit(CUT);
  for (uint32_t i = 0; i < sizeof fatal / sizeof *fatal; i++) set |= hd_bit(fatal[i]);
  return set;
}

void hd_crash_remove(void) {
  struct kernel_sigaction sa = { 0 };
  for (uint32_t i = 0; i < sizeof fatal / sizeof *fatal; i++) hd_sys4(SYS_rt_sigaction, fatal[i], &sa, 0, 8);
  hd_sys4(SYS_rt_sigaction, CUT, &sa, 0, 8);
}

static void install(void) {
  static bool done;
  stack_t ss = { .ss_sp = hd_map(ALT_STACK, "the signal stack"), .ss_size = ALT_STACK };
  hd_sys(SYS_sigaltstack, &ss, 0, 0);
  hd_timestamp_trap(true);
  if (hd_threads_real) hd_kernel_mask = hd_arrivals_mask();
  if (done) return;
  done = true;
  // The unwinder sets itself up at its first use; that must be part of the snapshot.
  hd_unwinder_warm();
  struct kernel_sigaction sa = { .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000 /* SA_RESTORER */, .restorer = hd_sigreturn_at };
  sa.handler = (void *)on_fatal;
  for (uint32_t i = 0; i < sizeof fatal / sizeof *fatal; i++) hd_sys4(SYS_rt_sigaction, fatal[i], &sa, 0, 8);
  sa.handler = (void *)on_cut;
  hd_sys4(SYS_rt_sigaction, CUT, &sa, 0, 8);
}

static void begin(void) { hd_stack_handled = hd_signal_handled(SIGSEGV); }
static void handled(int sig, uint64_t pc) {
  (void)pc;
  if (sig == SIGSEGV) hd_stack_handled = true;
}

const struct hd_registration hd_crash = { .begin = begin, .handled = handled, .kernel_thread = install };
