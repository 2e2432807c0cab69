// delivery.c: running the program's signal handlers. A handler runs on the stack of the
// thread that takes the signal, at a scheduling point of it, with whatever the thread was
// about to do put aside; or, for a signal that a thread sends itself or unblocks, before
// that call returns.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#include "core/rt.h"
#include "signals/signals.h"
#include "sync/sync.h"

// ---- which
static int due(const struct hd_thread *t) {
  uint64_t own = t->sigpending & ~t->sigmask, all = hd_signals_pending(t) & ~t->sigmask;
  if (t->pend.op == HD_OP_SIGNAL_WAIT && t->needs) { own &= ~t->pend.aux; all &= ~t->pend.aux; } // those are accepted
  return own ? __builtin_ctzll(own) + 1 : all ? __builtin_ctzll(all) + 1 : 0;
}

int hd_signal_due(const struct hd_thread *t) {
  if (!hd.npending || t->ended || t->timer) return 0;
  switch (t->pend.op) {
  case HD_OP_THREAD_START: case HD_OP_MUTEX_ABANDON: case HD_OP_THREAD_END: case HD_OP_ABORT: // libc blocks signals there
  case HD_OP_SIGNAL_DELIVER:
    return 0;
  }
  return due(t);
}

bool hd_interruptible(const struct hd_thread *t, int sig) {
  if (t->intr == HD_INTR_NEVER || t->interrupted || (t->intr == HD_INTR_RESTART && hd_signal_restarts(sig))) return false;
  if (t->pend.op == HD_OP_SLEEP || t->pend.op == HD_OP_SIGNAL_RESUME) return true;
  return !hd_op_possible(t) || (t->owed == HD_OWED_BLOCKED && hd_owes(t)); // only once it waits
}

// ---- when at the latest
//
// A thread that is blocked in the kernel when it is sent a signal runs the handler before its
// call goes on, whatever has happened to what it waits for by then: sending marks the thread
// before it returns, and a thread looks for the mark before it leaves the kernel. So the
// operation of one that waits is not ready again until it has taken the signal. (A thread at
// the head of a call that cannot be done is counted as blocked in it. That it has not begun
// yet is possible for as long as the interrupt that tells its processor is on its way, and
// then the call would have to be made possible, be begun and ended within that time.)
// A signal to the process that others could take need not be taken by this one.
// ppoll and kin look at what is ready first; they are left to hd_mask_back.
static bool deliverable(const struct hd_thread *t) {
  if (t->timer || t->masked || !hd_signal_due(t) || !hd_signal_for(t)) return false;
  return !hd_io_begun(t) || (!t->interrupted && (t->owed == HD_OWED_BLOCKED || !hd_op_possible(t))); // then it can only end the call
}

bool hd_owes(const struct hd_thread *t) { return t->owed && hd.npending && deliverable(t); }

void hd_owe(struct hd_thread *t) {
  if (t->owed != HD_OWED_BLOCKED && t->needs && !hd_op_possible(t) && deliverable(t)) t->owed = HD_OWED_BLOCKED;
}

// The interrupt is there in a few microseconds: before a thread that the kernel starts, ends
// or lets sleep is seen to have begun, ended or woken up.
void hd_signals_arrive(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && !u->owed && deliverable(u)) u->owed = HD_OWED_ARRIVED;
  }
}

// The same mark makes a thread that leaves the kernel for any other reason take the signal
// before the call returns. What the call has done is done by then. pc: where it returns to.
void hd_kernel_exit(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (HD_LIKELY(!hd.npending) || t->masked || !hd_signal_for(t)) return;
  int err = errno;
  hd_deliver_due(t, pc);
  errno = err;
}

// ---- handlers
static void pop(struct hd_thread *t) {
  struct hd_suspended *s = t->suspended;
  hd_note(t, HD_OP_SIGNAL_RETURN, 0, 0, (uint64_t)s->sig);
  t->suspended = s->outer;
  hd.nsuspended--;
}

// The handler was left by an exception or pthread_exit, and so were those inside of it.
static void unwound(struct hd_suspended *s) {
  if (!s->sig || !hd_active()) return;
  struct hd_thread *t = hd.cur;
  while (t->suspended != s) pop(t);
  pop(t);
}

static void put_aside(struct hd_thread *t, struct hd_suspended *s, int sig) {
  s->outer = t->suspended;
  s->sig = sig;
  s->pend = t->pend;
  s->needs = t->needs;
  s->needs2 = t->needs2;
  s->deadline = t->deadline;
  s->arrival = t->arrival;
  s->touched_low = t->touched_low;
  s->depth = t->depth;
  s->granted = t->granted;
  s->timed = t->timed;
  s->timed_out = t->timed_out;
  s->due = t->due;
  s->interrupted = t->interrupted;
  s->intr = t->intr;
  s->cancelable = t->cancelable;
  s->owed = hd_owes(t) ? t->owed : HD_OWED_NOT; // the kernel has several run one after the other
  s->io = t->io;
  t->cancelable = false;
  hd_io_leave(t);
  hd_need_nothing(t);
  hd_add(&hd.enabled, t->index);
  t->suspended = s;
  hd.nsuspended++;
}

static void take_up(struct hd_thread *t, struct hd_suspended *s, bool other_stack) {
  t->pend = s->pend;
  pop(t);
  s->sig = 0;
  t->depth = s->depth;
  if (other_stack) t->touched_low = s->touched_low;
  if (s->needs) hd_need(t, s->needs, s->needs2);
  t->deadline = s->deadline;
  t->arrival = s->arrival;
  t->granted = s->granted;
  t->timed = s->timed;
  t->timed_out = s->timed_out;
  t->due = s->due;
  t->interrupted = s->interrupted;
  t->intr = s->intr;
  t->cancelable = s->cancelable;
  t->owed = s->owed;
  t->io = s->io;
  hd_io_enter(t);
  if (t->timed && !t->timed_out && !t->due && !t->granted) {
    hd_add(&hd.timers, t->index);
    if (t->deadline < hd.next_deadline) hd.next_deadline = t->deadline;
  }
}

bool hd_on_alt_stack(const struct hd_thread *t, uintptr_t sp) { return sp - t->alt_lo < t->alt_size; }

extern void hd_call_on(uintptr_t stack, void *f, int sig, void *info, void *context);

void hd_run_handler(struct hd_thread *t, const struct sigaction *act, siginfo_t *info, ucontext_t *c) {
  struct hd_suspended s __attribute__((cleanup(unwound)));
  int sig = info->si_signo;
  if (act->sa_flags & (int)SA_RESETHAND) hd_actions[sig].sa_handler = SIG_DFL;
  bool masked = t->masked;
  *(uint64_t *)&c->uc_sigmask = masked ? t->back_mask : t->sigmask;
  put_aside(t, &s, sig);
  t->masked = false;
  t->sigmask |= *(const uint64_t *)&act->sa_mask | (act->sa_flags & SA_NODEFER ? 0 : hd_bit(sig));
  // The kernel has the others that such a mask lets through run before this one's first step.
  if (masked) hd_deliver_due(t, s.pend.pc);
  bool other = act->sa_flags & SA_ONSTACK && t->alt_size && !hd_on_alt_stack(t, (uintptr_t)__builtin_frame_address(0));
  if (other) hd_call_on((t->alt_lo + t->alt_size) & ~15ull, (void *)act->sa_sigaction, sig, info, c);
  else act->sa_sigaction(sig, info, c); // a handler of one argument does not look at the others
  hd_event_settle();
  t->sigmask = *(uint64_t *)&c->uc_sigmask;
  take_up(t, &s, other);
}

// Runs the handler for a signal that was taken, or does what is done without one.
static void run(struct hd_thread *t, const struct hd_signal *q) {
  struct sigaction act = hd_actions[q->sig];
  if (hd_signal_ignored(q->sig)) return;
  if (!hd_signal_handled(q->sig)) hd_signal_fatal(q->sig, t->pend.pc);
  siginfo_t info;
  ucontext_t c;
  hd_signal_info(&info, q);
  hd_fill(&c, 0, sizeof c);
  c.uc_mcontext.gregs[REG_RIP] = (long long)t->pend.pc;
  c.uc_mcontext.gregs[REG_RSP] = (long long)__builtin_frame_address(0);
  hd_run_handler(t, &act, &info, &c);
}

static uint64_t handler_of(int sig) { return hd_signal_handled(sig) ? (uint64_t)hd_actions[sig].sa_handler : 0; }

void hd_deliver_aside(struct hd_thread *t, uint16_t op) {
  bool interrupts = op == HD_OP_SIGNAL_INTERRUPT;
  struct hd_signal q;
  hd_signal_take(t, hd_bit(hd_signal_due(t)), &q);
  hd_progress(t);
  hd_commit_aside(t, op, handler_of(q.sig), q.sender, (uint64_t)q.sig, interrupts ? EINTR : 0, 0);
  hd_update_all();
  run(t, &q);
  if (interrupts) t->interrupted = true;
}

void hd_deliver_due(struct hd_thread *t, uint64_t pc) {
  while (due(t)) {
    hd_pend(t, HD_OP_SIGNAL_DELIVER, pc, 0);
    hd_point(t);
    struct hd_signal q;
    int sig = due(t);
    if (!sig) { // another thread has taken it
      hd_commit(t, 0, 0);
      return;
    }
    hd_signal_take(t, hd_bit(sig), &q);
    t->pend.obj = handler_of(sig);
    t->pend.aux = q.sender;
    hd_progress(t);
    hd_commit(t, (uint64_t)sig, 0);
    hd_update_all();
    run(t, &q);
  }
}

// ---- jumps out of handlers
//
// libc keeps the kernel's mask in the buffer, which is not the program's. The program's goes
// into words of the buffer's mask that no kernel uses.
enum { WORD = 8 };
static const uint64_t MAGIC = 0x686564646c6d736bull;
struct jump { uint64_t regs[8]; int saved; sigset_t mask; };
_Static_assert(offsetof(struct jump, mask) == offsetof(struct __jmp_buf_tag, __saved_mask), "libc's jump buffer");

// Called by __sigsetjmp (arch/x86_64/jump.S) before libc's, whose address it returns.
__attribute__((visibility("hidden"))) HD_PROGACCESS void *hd_before_sigsetjmp(struct jump *env, int save) {
  if (save && hd_active()) {
    uint64_t *words = (uint64_t *)&env->mask;
    words[WORD] = MAGIC;
    words[WORD + 1] = hd.cur->sigmask;
  }
  return (void *)REAL(__sigsetjmp);
}

static bool same_stack(const struct hd_thread *t, uintptr_t a, uintptr_t b) { return hd_on_alt_stack(t, a) == hd_on_alt_stack(t, b); }

static HD_PROGACCESS void before_jump(struct jump *env) {
  struct hd_thread *t = hd.cur;
  uintptr_t sp = env->regs[6]; // mangled with the thread's pointer guard
  __asm__("rorq $17, %0; xorq %%fs:0x30, %0" : "+r"(sp));
  // Of the handlers that run, those that began below where it goes to are left, with all
  // inside of them. Frames on different stacks cannot be compared.
  struct hd_suspended *left = NULL;
  for (struct hd_suspended *s = t->suspended; s; s = s->outer)
    if (same_stack(t, (uintptr_t)s, sp) && (uintptr_t)s < sp) left = s;
  if (left) {
    while (t->suspended != left) pop(t);
    pop(t);
  }
  uint64_t *words = (uint64_t *)&env->mask;
  if (env->saved && words[WORD] == MAGIC) t->sigmask = words[WORD + 1];
}

#define JUMP(name) \
  HD_EXPORT _Noreturn void name(struct __jmp_buf_tag env[1], int value) { \
    if (hd_active()) before_jump((struct jump *)env); \
    REAL(siglongjmp)(env, value); \
    __builtin_unreachable(); \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk) // its check knows one stack

// ---- alternative stacks
HD_EXPORT int sigaltstack(const stack_t *ss, stack_t *old) {
  if (!hd_active()) return REAL(sigaltstack)(ss, old);
  struct hd_thread *t = hd.cur;
  stack_t new, now;
  if (ss) hd_fetch(&new, ss, sizeof new, HD_RA);
  bool on = hd_on_alt_stack(t, (uintptr_t)__builtin_frame_address(0));
  hd_fill(&now, 0, sizeof now);
  now.ss_sp = (void *)t->alt_lo;
  now.ss_size = t->alt_size;
  now.ss_flags = on ? SS_ONSTACK : t->alt_size ? 0 : SS_DISABLE;
  if (ss) {
    int err = on ? EPERM : new.ss_flags & ~(SS_DISABLE | SS_ONSTACK) ? EINVAL : !(new.ss_flags & SS_DISABLE) && new.ss_size < 2048 ? ENOMEM : 0;
    if (err) { errno = err; return -1; }
    t->alt_lo = new.ss_flags & SS_DISABLE ? 0 : (uintptr_t)new.ss_sp;
    t->alt_size = new.ss_flags & SS_DISABLE ? 0 : new.ss_size;
  }
  if (old) {
    hd_refresh(old, sizeof *old, HD_RA);
    *old = now;
  }
  return 0;
}
