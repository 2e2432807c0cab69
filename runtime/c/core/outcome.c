// outcome.c: how an execution ends, and telling the program's failures from our own.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>
#include "io/fd.h"

enum { ALT_STACK = 256 << 10, WATCHDOG = SIGURG };

uint64_t hd_text_hash(const char *s) {
  uint64_t h = 14695981039346656037ull;
  for (; s && *s; s++) h = (h ^ (uint8_t)*s) * 1099511628211ull;
  return h;
}

// ---- the failing thread's stack
struct walk { uint64_t pc[128]; uint32_t n; bool from_found; uint64_t from; };

static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *arg) {
  struct walk *w = arg;
  int before = 0;
  uint64_t pc = _Unwind_GetIPInfo(c, &before);
  if (!pc || w->n == sizeof w->pc / sizeof *w->pc) return _URC_END_OF_STACK;
  // Frames are kept as return addresses, like the sites of events.
  if (before) pc++;
  if (w->from && !w->from_found) {
    if (pc != w->from && pc != w->from + 1) return _URC_NO_REASON;
    w->from_found = true;
  }
  if (!hd_in_runtime(pc)) w->pc[w->n++] = pc;
  return _URC_NO_REASON;
}

static bool unwinding;

// from is where it begins. If that is on no stack (main has returned) it is all there is to
// tell, or, in a fault, the stack is broken and told from its top.
static void send_backtrace(uint64_t from, bool fault) {
  static struct walk w;
  w.n = 0;
  w.from = from;
  w.from_found = false;
  if (!unwinding) { // a fault in here comes back with unwinding set
    unwinding = true;
    _Unwind_Backtrace(frame, &w);
    if (!w.n && from && fault) {
      w.from = 0;
      _Unwind_Backtrace(frame, &w);
    }
  }
  unwinding = false;
  struct hd_thread *t = hd.cur;
  if (!w.n && t) { // no unwind tables: what the access hooks know
    if (from && hd_known(from)) w.pc[w.n++] = from;
    for (uint32_t i = t->depth < HD_SHADOW_MAX ? t->depth : HD_SHADOW_MAX; i-- && w.n < 128;)
      if (!hd_in_runtime(t->shadow[i].pc)) w.pc[w.n++] = t->shadow[i].pc;
  }
  for (uint32_t i = 0; i < w.n; i++) w.pc[i] = hd_name(w.pc[i]);
  hd_out(HD_REC_BACKTRACE, w.pc, w.n * 8);
}

static bool peek(void *to, uint64_t addr, uint64_t n) {
  struct { void *base; uint64_t len; } local = { to, n }, remote = { (void *)addr, n };
  return hd_sys6(SYS_process_vm_readv, hd_sys(SYS_getpid, 0, 0, 0), (long)&local, 1, (long)&remote, 1, 0) == (long)n;
}

// ---- the waits-for graph
//
// The objects are the program's and may be gone by now: asked of the kernel, not touched.
uint64_t hd_word_at(uint64_t addr, uint32_t size) {
  uint64_t v = 0;
  if (size > sizeof v) size = sizeof v;
  return peek(&v, addr, size) ? v : 0;
}
static uint32_t owner_at(uint64_t addr) {
  uint32_t owner = (uint32_t)hd_word_at(addr, 4);
  return owner <= hd.nborn ? owner : 0; // the program has written over it
}

uint32_t hd_holder(const struct hd_thread *u) {
  switch (u->pend.op) {
  case HD_OP_THREAD_JOIN: return (uint32_t)u->pend.aux + 1;
  case HD_OP_MUTEX_LOCK: case HD_OP_MUTEX_TIMEDLOCK: return owner_at(u->pend.obj + 8);
  case HD_OP_COND_WAKE: return u->granted || u->timed_out ? owner_at(u->pend.aux + 8) : 0;
  case HD_OP_RWLOCK_RDLOCK: case HD_OP_RWLOCK_WRLOCK: case HD_OP_RWLOCK_TIMEDRDLOCK: case HD_OP_RWLOCK_TIMEDWRLOCK: return owner_at(u->pend.obj + 8);
  case HD_OP_ONCE_BEGIN: return (uint32_t)u->pend.aux;
  }
  return 0;
}

void hd_report_waiters(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (u->ended || u->timer) continue;
    struct hd_waiter w = { .thread = u->number, .op = u->pend.op, .pc = hd_name(u->pend.pc), .object = hd_name(u->pend.obj) };
    if (hd_has(&hd.enabled, i)) w.flags |= HD_WAIT_READY;
    if (u->timed) w.flags |= HD_WAIT_TIMED;
    w.holder = w.flags & HD_WAIT_READY ? 0 : hd_holder(u);
    if (w.op == HD_OP_COND_WAKE && w.holder) w.object = hd_name(u->pend.aux);
    w.stack = hd_stack_number(u);
    hd_out(HD_REC_WAITER, &w, sizeof w);
  }
}

// ---- the end
static bool watchdog; // the controller asked for an end

void hd_hang(uint64_t pc, uint64_t object) {
  hd_end(HD_OUT_HANG, 0, pc, object,
         watchdog ? "watchdog: the program computes, or is blocked in the kernel, without reaching a scheduling point" : "step budget");
}

void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg) {
  if (outcome == HD_OUT_ASSERT || outcome == HD_OUT_SIGNAL || outcome == HD_OUT_MISUSE || outcome == HD_OUT_EXCEPTION) hd_commit_failed();
  if (outcome != HD_OUT_CLEAN) hd_debug_failure();
  hd_mode = HD_CARRIER; // from here on nothing is the program's: unwinding calls libc
  struct hd_result *r = &hd.result;
  r->outcome = outcome;
  r->status = status;
  r->pc = hd_name(pc);
  r->object = hd_name(object);
  r->thread = hd.cur ? hd.cur->number : 0;
  r->ident = (uint32_t)hd_mix(hd_mix(outcome, (uint64_t)(uint32_t)status), outcome == HD_OUT_ASSERT || outcome == HD_OUT_EXCEPTION ? hd_text_hash(msg) : r->pc);
  if (outcome == HD_OUT_DEADLOCK) {
    uint64_t sum = 0; // does not depend on which worker of a pool it hit
    for (uint32_t i = 0; i < hd.nthreads; i++)
      if (!hd_threads[i].ended && !hd_threads[i].timer && hd_threads[i].pend.op != HD_OP_THREAD_JOIN)
        sum += hd_mix(hd_name(hd_threads[i].pend.pc), hd_threads[i].pend.op);
    r->ident = (uint32_t)hd_mix(HD_OUT_DEADLOCK, sum);
  }
  // On a terminal the lines printed so far would be there; the captured output is a file,
  // and libc may still hold them back.
  if (hd.plan.flags & HD_PLAN_OUTPUT && outcome != HD_OUT_CLEAN && outcome != HD_OUT_SIGNAL && outcome != HD_OUT_UNSUPPORTED && !watchdog && !hd_stdio_modelled(stdout))
    REAL(fflush)(stdout);
  if (outcome == HD_OUT_CLEAN && status != hd.plan.expect_status) send_backtrace(pc, false); // a failure, if another status is expected
  if (outcome != HD_OUT_CLEAN) { // rare, and what identifies the failure must not depend on the plan
    if (hd.record) hd_event_flush();
    if (msg) hd_out(HD_REC_MESSAGE, msg, (uint32_t)hd_strlen(msg) + 1);
    if (outcome != HD_OUT_DIVERGED) send_backtrace(outcome == HD_OUT_SIGNAL ? pc : 0, true);
    hd_report_waiters();
  }
  watchdog = false;
  hd_to_carrier();
}

void hd_misuse(uint64_t pc, uint64_t object, const char *msg) { hd_end(HD_OUT_MISUSE, 0, pc, object, msg); }

void hd_unsupported(const char *what) {
  hd_end(HD_OUT_UNSUPPORTED, 0, hd.cur->pend.pc, 0, what);
}

void hd_needs(uint32_t isolation, const char *what) {
  if (hd_isolation < isolation) hd_end(HD_OUT_UNSUPPORTED, (int32_t)isolation, hd.cur->pend.pc, 0, what);
}

// ---- signals
static bool progaccess(uint64_t pc) {
  extern char __start_hd_progaccess[] __attribute__((visibility("hidden")));
  extern char __stop_hd_progaccess[] __attribute__((visibility("hidden")));
  return pc >= (uint64_t)__start_hd_progaccess && pc < (uint64_t)__stop_hd_progaccess;
}

// A load that may fault (sync/sync.h): goes on behind it.
static bool fix_up(greg_t *ip) {
  struct fixup { int32_t at, to; };
  extern const struct fixup __start_hd_fixups[] __attribute__((visibility("hidden")));
  extern const struct fixup __stop_hd_fixups[] __attribute__((visibility("hidden")));
  for (const struct fixup *f = __start_hd_fixups; f < __stop_hd_fixups; f++)
    if ((greg_t)&f->at + f->at == *ip) {
      *ip = (greg_t)&f->to + f->to;
      return true;
    }
  return false;
}

static void record_signal(int sig, uint64_t pc, uint64_t addr) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, HD_OP_SIGNAL, pc, addr);
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  if (hd.record) hd_event(t, (uint64_t)sig, 0, HD_EV_NOCHOICE);
}

// A call of something that is not code: the place is the call, and the stack begins there.
static void step_back(ucontext_t *c, const siginfo_t *info) {
  greg_t *reg = c->uc_mcontext.gregs;
  if (info->si_code <= 0 || (greg_t)(uintptr_t)info->si_addr != reg[REG_RIP] || hd_late_gone((uint64_t)reg[REG_RIP])) return;
  uint64_t back = 0;
  if (!peek(&back, (uint64_t)reg[REG_RSP], sizeof back) || !back) return;
  reg[REG_RIP] = (greg_t)back - 2; // in the call, which has two bytes at least
  reg[REG_RSP] += 8;
}

// What there is to say of a fault: it is where a library was that is gone.
static const char *unloaded(uint64_t pc, uint64_t addr) {
  const char *code = hd_late_gone(pc), *data = code ? NULL : hd_late_gone(addr);
  if (code) return hd_text("in the code of %s, which was unloaded", hd_base_name(code));
  return data ? hd_text("at memory of %s, which was unloaded", hd_base_name(data)) : NULL;
}

static void on_fatal(int sig, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  if (info->si_code > 0 && fix_up(&c->uc_mcontext.gregs[REG_RIP])) return;
  hd_event_forget();
  uint64_t pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
  if (hd_mode == HD_EARLY) {
    if (hd_in_runtime(pc) && !progaccess(pc)) hd_fatal("signal %d in the runtime before main (offset %lx)", sig, hd_runtime_offset(pc));
    hd_refuse("the program died of signal %d before main", sig);
  }
  if (unwinding) { // a broken stack: go on with what is known
    void (*resume)(void) = hd_to_carrier;
    uint64_t none = 0;
    unwinding = false;
    hd_out(HD_REC_BACKTRACE, &none, 0);
    resume();
  }
  if (hd_mode != HD_ACTIVE || (hd_in_runtime(pc) && !progaccess(pc) && info->si_code > 0)) {
    hd_shm->fatal_pc = pc;
    hd_fatal("signal %d in the runtime (address %lx, at offset %lx)", sig, (uint64_t)info->si_addr, hd_runtime_offset(pc));
  }
  if (sig == SIGPIPE && hd_signal_ignored(sig)) return;
  if (sig == SIGPIPE && hd_signal_handled(sig)) { hd_signal_kernel(sig); return; }
  if (sig != SIGABRT && info->si_code > 0 && hd_signal_handled(sig) && hd_fault(sig, info, context)) return;
  if (hd_loading && !hd_in_loader(pc)) hd_late_look();
  uint64_t addr = sig == SIGABRT ? 0 : (uint64_t)info->si_addr;
  step_back(c, info);
  pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
  // In a hook that touches memory for the program, the program's instruction is the
  // pending one.
  uint64_t site = hd_in_runtime(pc) ? hd.cur->pend.pc : pc + 1;
  if (sig == SIGABRT) { // libc's own abort: malloc_printerr, __fortify_fail, …
    hd_end(HD_OUT_ASSERT, 0, site, 0, "abort in libc");
  }
  hd_commit_failed();
  record_signal(sig, site, addr);
  hd_end(HD_OUT_SIGNAL, sig, site, addr, unloaded(pc, addr));
}

// The controller's watchdog: the program has been running without reaching a hook.
static void on_watchdog(int sig, siginfo_t *info, void *context) {
  (void)info;
  if (hd_mode != HD_ACTIVE) {
    hd_fork_signal(sig);
    return;
  }
  watchdog = true;
  uint64_t pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (hd_in_runtime(pc)) { // make the next scheduling point end it
    hd.plan.max_steps = hd.points;
    return;
  }
  hd.cur->pend.pc = pc + 1;
  // In a system call: libc itself has called the loader, whose lock another fiber has.
  if (hd_loader_busy() && (hd_word_at(pc - 2, 2) == 0x050f)) {
    watchdog = false;
    hd_unsupported("a function of libc that waits for the loader's lock on its own, while another thread runs a constructor");
  }
  hd_hang(pc + 1, 0);
}

struct kernel_sigaction { void *handler; unsigned long flags; void *restorer; uint64_t mask; };
extern void hd_sigreturn(void);
// Unwinders and debuggers know a signal's frame by just these bytes, and look at the one
// before, which must be no function's.
__asm__(".text\n nop\n.hidden hd_sigreturn\n.globl hd_sigreturn\nhd_sigreturn:\n movq $15, %rax\n syscall\n");

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE };

void hd_outcome_remove(void) {
  struct kernel_sigaction sa = { 0 };
  for (uint32_t i = 0; i < sizeof fatal / sizeof *fatal; i++) hd_sys4(SYS_rt_sigaction, fatal[i], &sa, 0, 8);
  hd_sys4(SYS_rt_sigaction, WATCHDOG, &sa, 0, 8);
}

void hd_outcome_install(void) {
  static bool done;
  stack_t ss = { .ss_sp = hd_map(ALT_STACK, "the signal stack"), .ss_size = ALT_STACK };
  hd_sys(SYS_sigaltstack, &ss, 0, 0);
  if (done) return;
  done = true;
  // The unwinder sets itself up at its first use; that must be part of the snapshot.
  static struct walk w;
  _Unwind_Backtrace(frame, &w);
  struct kernel_sigaction sa = { .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000 /* SA_RESTORER */, .restorer = (void *)hd_sigreturn };
  sa.handler = (void *)on_fatal;
  for (uint32_t i = 0; i < sizeof fatal / sizeof *fatal; i++) hd_sys4(SYS_rt_sigaction, fatal[i], &sa, 0, 8);
  sa.handler = (void *)on_watchdog;
  hd_sys4(SYS_rt_sigaction, WATCHDOG, &sa, 0, 8);
}
