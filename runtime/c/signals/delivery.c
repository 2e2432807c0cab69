// delivery.c: running the program's signal handlers. A handler runs on the stack of the thread
// that takes the signal, at one of its scheduling points, and suspends the operation that the
// thread was about to do; or, for a signal that a thread sends itself or unblocks, before that
// call returns.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#include "arch/context.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/side_stack.h"
#include "core/stacks.h"
#include "signals/signals.h"

// ---- when
//
// The mark that a signal leaves on its thread (core/interrupts.c) makes a thread that leaves the
// kernel for any other reason take it before the call returns. The call has had its effect by then.
// pc: where it returns to.
void hd_kernel_exit(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (HD_LIKELY(!hd.npending) || t->signals.masked || !hd_signal_for(t)) return;
  int err = errno;
  hd_deliver_due(t, pc);
  errno = err;
}

// ---- handlers
static void pop(struct hd_thread *t) {
  struct hd_suspended *s = t->signals.suspended;
  hd_note(t, HD_OP_SIGNAL_RETURN, 0, 0, (uint64_t)s->sig);
  t->signals.suspended = s->outer;
  hd.nsuspended--;
}

// An exception or pthread_exit left the handler, and with it the handlers nested in it.
static void unwound(struct hd_suspended *s) {
  if (!s->sig || !hd_active()) return;
  struct hd_thread *t = hd.cur;
  while (t->signals.suspended != s) pop(t);
  pop(t);
  hd_side_top = s->side_top;
}

static void put_aside(struct hd_thread *t, struct hd_suspended *s, int sig) {
  s->outer = t->signals.suspended;
  s->sig = sig;
  s->pend = t->pend;
  s->wait = t->wait;
  if (!hd_owes(t)) s->wait.owed = HD_OWED_NOT; // else: the kernel runs several one after the other
  s->touched_low = t->stack.touched_low;
  s->depth = t->calls.depth;
  t->wait.cancelable = false;
  const struct hd_operation *o = hd_operations[t->pend.op];
  if (o->leave) o->leave(t);
  hd_unblock(t);
  hd_add(&hd.enabled, t->index);
  t->signals.suspended = s;
  hd.nsuspended++;
}

static void take_up(struct hd_thread *t, struct hd_suspended *s, bool other_stack) {
  t->pend = s->pend;
  pop(t);
  s->sig = 0;
  t->calls.depth = s->depth;
  hd_stack_left(t);
  if (other_stack) t->stack.touched_low = s->touched_low;
  if (s->wait.on) hd_block_on(t, s->wait.on, s->wait.on2);
  t->wait = s->wait;
  const struct hd_operation *o = hd_operations[t->pend.op];
  if (o->enter) o->enter(t);
  if (t->wait.timed && !t->wait.timed_out && !t->wait.due && !t->wait.woken) {
    hd_add(&hd.timers, t->index);
    if (t->wait.deadline < hd.next_deadline) hd.next_deadline = t->wait.deadline;
  }
}

bool hd_on_alt_stack(const struct hd_thread *t, uintptr_t sp) { return sp - t->signals.alt_lo < t->signals.alt_size; }

static void deliver_others(int sig, void *t, void *pc) {
  (void)sig;
  hd_deliver_due(t, (uint64_t)pc);
}

HD_ON_SIDE_STACK(void, hd_run_handler, (struct hd_thread *t, const struct sigaction *act, siginfo_t *info, ucontext_t *c, uintptr_t sp, uintptr_t side_top)) {
  struct hd_suspended s __attribute__((cleanup(unwound)));
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  s.sp = hd_on_side(here) ? hd_program_sp() : here;
  s.side_top = side_top;
  int sig = info->si_signo;
  if (act->sa_flags & (int)SA_RESETHAND) hd_actions[sig].sa_handler = SIG_DFL;
  bool masked = t->signals.masked;
  *(uint64_t *)&c->uc_sigmask = masked ? t->signals.mask_back : t->signals.mask;
  put_aside(t, &s, sig);
  t->signals.masked = false;
  t->signals.mask |= *(const uint64_t *)&act->sa_mask | (act->sa_flags & SA_NODEFER ? 0 : hd_bit(sig));
  if (!sp) sp = s.sp - HD_RED_ZONE;
  hd_side_below(here);
  // The kernel runs the other handlers that such a mask lets through before this one's first step, and puts
  // what they are given below what this one is given.
  if (masked && s.sp != here) hd_call_on(sp & ~15ull, (void *)deliver_others, 0, t, (void *)s.pend.pc);
  else if (masked) hd_deliver_due(t, s.pend.pc);
  bool other = act->sa_flags & SA_ONSTACK && t->signals.alt_size && !hd_on_alt_stack(t, s.sp);
  if (other) sp = t->signals.alt_lo + t->signals.alt_size;
  // A handler of one argument ignores the others.
  if (other || s.sp != here) hd_call_on(sp & ~15ull, (void *)act->sa_sigaction, sig, info, c);
  else act->sa_sigaction(sig, info, c);
  if (hd_mode == HD_CHILD) { // forked in the handler
    s.sig = 0;
    t->signals.suspended = NULL;
    hd_signals_unblock(*(uint64_t *)&c->uc_sigmask);
    return;
  }
  hd_side_top = side_top;
  hd_event_settle();
  t->signals.mask = *(uint64_t *)&c->uc_sigmask;
  take_up(t, &s, other);
}

// Runs the handler for a signal that was taken, or performs its default action. Called on the side stack.
static void run(struct hd_thread *t, const struct hd_signal *q) {
  struct sigaction act = hd_actions[q->sig];
  if (hd_signal_ignored(q->sig)) return;
  if (!hd_signal_handled(q->sig)) hd_signal_fatal(q->sig, t->pend.pc);
  struct { ucontext_t c; siginfo_t info; } here, *frame = &here;
  uintptr_t sp = hd_program_sp();
  if (sp) frame = (void *)((sp - HD_RED_ZONE - sizeof here) & ~63ull); // like the kernel's
  hd_signal_info(&frame->info, q);
  hd_fill(&frame->c, 0, sizeof frame->c);
  hd_context_set(&frame->c, t->pend.pc, sp ? sp : (uintptr_t)frame);
  hd_run_handler(t, &act, &frame->info, &frame->c, sp ? (uintptr_t)frame : 0, hd_side_top);
}

static uint64_t handler_of(int sig) { return hd_signal_handled(sig) ? (uint64_t)hd_actions[sig].sa_handler : 0; }

static void deliver_aside(struct hd_thread *t, uint16_t op) {
  bool interrupts = op == HD_OP_SIGNAL_INTERRUPT;
  struct hd_signal q;
  hd_signal_take(t, hd_bit(hd_signal_due(t)), &q);
  hd_progress(t);
  hd_commit_aside(t, op, handler_of(q.sig), q.sender, (uint64_t)q.sig, interrupts ? EINTR : 0, 0);
  hd_update_all();
  run(t, &q);
  if (hd_mode == HD_CHILD) hd_refuse("a child process that is forked in a signal handler returns from it into the call that the handler interrupted");
  if (interrupts) t->wait.interrupted = true;
}

HD_ON_SIDE_STACK(void, hd_deliver_due, (struct hd_thread *t, uint64_t pc)) {
  while (hd_signal_next(t)) {
    hd_pend(t, HD_OP_SIGNAL_DELIVER, pc, 0);
    hd_point(t);
    struct hd_signal q;
    int sig = hd_signal_next(t);
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
    if (hd_mode == HD_CHILD) return;
  }
}

static const struct hd_operation operations[] = {
  { .op = HD_OP_SIGNAL_DELIVER, .detour = deliver_aside },
  { .op = HD_OP_SIGNAL_INTERRUPT, .detour = deliver_aside },
};

const struct hd_registration hd_delivery = { HD_OPERATIONS(operations) };

// ---- jumps out of handlers
//
// libc keeps the kernel's mask in the buffer, which is not the program's. The program's goes
// into words of the buffer's mask that no kernel uses.
enum { WORD = 8 };
static const uint64_t MAGIC = 0x686564646c6d736bull;
struct jump { uint64_t regs[HD_JUMP_WORDS]; int saved; sigset_t mask; };
_Static_assert(offsetof(struct jump, mask) == offsetof(struct __jmp_buf_tag, __saved_mask), "libc's jump buffer");

// Called by __sigsetjmp (sigsetjmp.S) before libc's, whose address it returns.
__attribute__((visibility("hidden"))) HD_PROGACCESS void *hd_before_sigsetjmp(struct jump *env, int save) {
  uint64_t *words = (uint64_t *)&env->mask;
  if (save && hd_active()) {
    words[WORD] = MAGIC;
    words[WORD + 1] = hd.cur->signals.mask;
  } else if (save && hd_mode == HD_CHILD) {
    words[WORD] = 0; // the kernel's mask is the program's
  }
  return (void *)REAL(__sigsetjmp);
}

static bool same_stack(const struct hd_thread *t, uintptr_t a, uintptr_t b) { return hd_on_alt_stack(t, a) == hd_on_alt_stack(t, b); }

static bool on_stack_of(const struct hd_thread *u, uintptr_t sp) {
  uintptr_t lo = hd_stack_lo(u);
  return lo && sp >= lo && sp < hd_stack_hi(u);
}

// Ends the execution if the jump leads to a frame of another thread, or to one that has been left: below that of its caller. Frames
// that an earlier jump has left may have been kept for one that comes back, as coroutines do.
HD_ON_SIDE_STACK(void, hd_jump_check, (const struct hd_thread *t, uintptr_t sp, uintptr_t from, uint64_t pc, const struct jump *env)) {
  if (on_stack_of(t, sp)) {
    bool left = sp < from && on_stack_of(t, from) && same_stack(t, sp, from) && !t->stack.jumps && !t->stack.moved;
    if (left) hd_misuse(pc, (uint64_t)env, "longjmp to a call of setjmp in a function that has returned");
    return;
  }
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u == t || u->ended || u->fires || !on_stack_of(u, sp) || hd_on_alt_stack(t, sp)) continue;
    hd_misuse(pc, (uint64_t)env, hd_text("longjmp to a call of setjmp by another thread, T%u", u->number));
  }
}

static HD_PROGACCESS void before_jump(struct jump *env, uintptr_t from, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  uintptr_t sp = hd_jump_sp(env->regs);
  hd_jump_check(t, sp, from, pc, env);
  t->stack.jumps = true;
  // The jump leaves the running handlers that began below its target, with all that are nested
  // in them. Frames on different stacks cannot be compared.
  struct hd_suspended *left = NULL;
  for (struct hd_suspended *s = t->signals.suspended; s; s = s->outer)
    if (same_stack(t, s->sp, sp) && s->sp < sp) left = s;
  if (left) {
    uintptr_t side_top = left->side_top;
    while (t->signals.suspended != left) pop(t);
    pop(t);
    hd_side_top = side_top;
  }
  uint64_t *words = (uint64_t *)&env->mask;
  if (env->saved && words[WORD] == MAGIC) t->signals.mask = words[WORD + 1];
}

// The buffer may have been filled before the fork.
static void before_jump_in_child(struct jump *env) {
  uint64_t *words = (uint64_t *)&env->mask;
  if (env->saved && words[WORD] == MAGIC) words[0] = words[WORD + 1];
}

#define JUMP(name) \
  HD_EXPORT _Noreturn void name(struct __jmp_buf_tag env[1], int value) { \
    if (hd_active()) before_jump((struct jump *)env, (uintptr_t)__builtin_frame_address(0), HD_RA); \
    else if (hd_mode == HD_CHILD) before_jump_in_child((struct jump *)env); \
    REAL(siglongjmp)(env, value); \
    __builtin_unreachable(); \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk) // its check knows one stack

// ---- alternative stacks
HD_INTERPOSE(int, sigaltstack, (const stack_t *ss, stack_t *old), (ss, old)) {
  struct hd_thread *t = hd.cur;
  stack_t new, now;
  if (ss) hd_fetch(&new, ss, sizeof new, HD_RA);
  bool on = hd_on_alt_stack(t, (uintptr_t)__builtin_frame_address(0));
  hd_fill(&now, 0, sizeof now);
  now.ss_sp = (void *)t->signals.alt_lo;
  now.ss_size = t->signals.alt_size;
  now.ss_flags = on ? SS_ONSTACK : t->signals.alt_size ? 0 : SS_DISABLE;
  if (ss) {
    int err = on ? EPERM : new.ss_flags & ~(SS_DISABLE | SS_ONSTACK) ? EINVAL : !(new.ss_flags & SS_DISABLE) && new.ss_size < 2048 ? ENOMEM : 0;
    if (err) { errno = err; return -1; }
    t->signals.alt_lo = new.ss_flags & SS_DISABLE ? 0 : (uintptr_t)new.ss_sp;
    t->signals.alt_size = new.ss_flags & SS_DISABLE ? 0 : new.ss_size;
  }
  if (old) {
    hd_refresh(old, sizeof *old, HD_RA);
    *old = now;
  }
  return 0;
}
