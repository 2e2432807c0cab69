// instructions.c: system calls that a module makes with its own instructions, past every
// interposed function: OpenMP's runtime, other libraries that wait with futexes, assembler code.
// If a loaded module contains such an instruction, the kernel sends SIGSYS for every system call
// from outside libc's text (Syscall User Dispatch, Linux 5.11), and the handler below performs the
// call like syscall(). The runtime's own calls then use an instruction in libc's text
// (hd_syscall_at). Programs without such a module have no overhead.
//
// The handler runs on the calling thread's stack, so another thread may be chosen inside it.
// The kernel's dispatch belongs to a kernel thread, and neither fork nor exec passes it on.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include "arch/context.h"
#include "core/carrier.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"
#include "process/process.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
enum { DISPATCH_ON = 1, USER_DISPATCH = 2 /* si_code */ };

static struct { uint64_t lo, size; } libc;
static enum { UNKNOWN, UNUSED, CAUGHT, UNCAUGHT } state; // UNCAUGHT: the kernel cannot

static bool is_syscall(const uint8_t *code) { return hd_is_syscall((uint64_t)code[0] | (uint64_t)code[1] << 8); }

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  uint64_t within = (uint64_t)REAL(sched_yield);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t lo = info->dlpi_addr + p->p_vaddr;
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || within - lo >= p->p_filesz) continue;
    for (uint64_t at = lo; at + 3 <= lo + p->p_filesz; at++) {
      const uint8_t *b = (const uint8_t *)at;
      if ((b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16) != HD_SYSCALL_RET) continue;
      libc.lo = lo;
      libc.size = p->p_filesz;
      hd_syscall_at = (void (*)(void))at;
      return 1;
    }
  }
  return 0;
}

struct kernel_sigaction { void *handler; unsigned long flags; void *restorer; uint64_t mask; };

// Returns libc's code that returns from a signal handler; NULL if libc has none.
static void *restorer(void) {
  struct sigaction act = { .sa_handler = SIG_DFL };
  struct kernel_sigaction set;
  REAL(sigaction)(SIGSYS, &act, NULL);
  hd_sys4(SYS_rt_sigaction, SIGSYS, 0, &set, 8);
  return (uint64_t)set.restorer - libc.lo < libc.size ? set.restorer : NULL;
}

// Makes handlers return through back, because a return from a handler is a system call, too.
static void return_to(void *back) {
  struct kernel_sigaction sa;
  for (int sig = 1; sig < NSIG; sig++) {
    if (hd_sys4(SYS_rt_sigaction, sig, 0, &sa, 8) < 0 || sa.restorer != hd_sigreturn_at) continue;
    sa.restorer = back;
    hd_sys4(SYS_rt_sigaction, sig, &sa, 0, 8);
  }
  hd_sigreturn_at = back;
}

static bool on(void) { return hd_sys6(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, (long)libc.lo, (long)libc.size, 0, 0) == 0; }

// Reports whether to pass the call on to the kernel: outside of executions, and in the loader and
// the vDSO, it is not a call of the program.
static bool passes(uint64_t pc) {
  enum { VDSO_SIZE = 16384 }; // at most
  return !hd_active() || hd_in_loader(pc) || hd_in_runtime(pc) || pc - getauxval(AT_SYSINFO_EHDR) < VDSO_SIZE;
}

static void (*other)(int, siginfo_t *, void *); // the handler for SIGSYS with any other cause

static void on_syscall(int sig, siginfo_t *info, void *context) {
  if (info->si_code != USER_DISPATCH) {
    other(sig, info, context);
    return;
  }
  ucontext_t *c = context;
  uint64_t pc = hd_context_pc(c);
  long a[6], n = hd_context_syscall(c, a), r;
  if (passes(pc)) {
    r = hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]);
  } else {
    int err = errno;
    r = hd_system_call(n, a, hd.cur->library_pc ? hd.cur->library_pc : pc, true);
    if (r == -1) r = -errno;
    errno = err;
  }
  hd_context_result(c, r);
}

// Runs after signals/crash.c has installed its handlers.
static void install(void) {
  if (state == UNUSED || state == UNCAUGHT) return;
  struct kernel_sigaction sa;
  if (state == UNKNOWN) {
    state = UNUSED;
    if (!hd_program_contains(is_syscall, NULL)) return;
    state = UNCAUGHT;
    hd_sys4(SYS_rt_sigaction, SIGSYS, 0, &sa, 8);
    *(void **)&other = sa.handler;
    void *back = REAL(dl_iterate_phdr)(find_libc, NULL) ? restorer() : NULL;
    sa.flags &= ~(unsigned long)SA_ONSTACK;
    sa.handler = (void *)on_syscall;
    hd_sys4(SYS_rt_sigaction, SIGSYS, &sa, 0, 8);
    if (!back) return;
    return_to(back);
    if (!on()) return;
    state = CAUGHT;
    return;
  }
  on();
}

static void begin(void) {
  if (state == CAUGHT && hd_isolation == HD_ISOLATION_FORK) on(); // fork does not pass dispatch on to this process
}

// Describes a thread blocked in a module's own system call that the kernel did not intercept.
static const char *stuck(uint64_t pc) {
  if (state == CAUGHT || passes(pc) || hd_path_of_system(hd_module_name(pc)) || !hd_is_syscall(hd_word_at(pc - HD_SYSCALL_SIZE, HD_SYSCALL_SIZE))) return NULL;
  if (state == UNUSED) return hd_text("a system call by an instruction in %s, which was loaded after main began (link the program with it instead)", hd_module_name(pc));
  return hd_text("a system call by an instruction in %s, which this kernel cannot hand over to heddle (Linux 5.11 and later can)", hd_module_name(pc));
}

const struct hd_registration hd_instructions = { .begin = begin, .continues = begin, .kernel_thread = install, .stuck = stuck };
