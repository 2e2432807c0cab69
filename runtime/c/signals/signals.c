// signals.c: signals that the program sends itself. Only its child processes can send it others (arrivals.c). Dispositions,
// masks and pending signals are kept here, not in the kernel, whose state would outlive the execution; a child of the program
// has them in the kernel. Handlers run in delivery.c.
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // siginterrupt is
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "core/cancellation.h"
#include "core/identity.h"
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/threads.h"
#include "core/virtual_time.h"
#include "signals/signals.h"

enum { REALTIME = 32, QUEUE = 256 };

struct sigaction hd_actions[NSIG];
static struct sigaction actions_at_main[NSIG]; // set before main
static uint64_t mask_at_main;
static bool handlers_at_main;
static bool changed; // actions are not those at main
uint64_t hd_signals_sent[NSIG];
static struct hd_signal queue[QUEUE]; // pending, in the order they were sent; hd.npending of them

static uint64_t restarting(void) {
  uint64_t set = 0;
  for (int sig = 1; sig < NSIG; sig++)
    if (hd_actions[sig].sa_flags & SA_RESTART) set |= hd_bit(sig);
  return set;
}

static void begin(void) {
  if (changed) {
    hd_copy(hd_actions, actions_at_main, sizeof hd_actions);
    hd.restarting = restarting();
  }
  changed = false;
  hd.process_pending = 0;
  hd.npending = hd.nsuspended = 0;
  hd_fill(hd_signals_sent, 0, sizeof hd_signals_sent);
  hd.handlers = handlers_at_main;
}

// ---- dispositions
static bool handles(const struct sigaction *a) { return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN; }

static bool ignored(int sig) {
  void *h = (void *)hd_actions[sig].sa_handler;
  if (h == (void *)SIG_IGN) return true;
  return h == (void *)SIG_DFL && (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT);
}

bool hd_signal_ignored(int sig) { return ignored(sig); }
bool hd_signal_handled(int sig) { return handles(&hd_actions[sig]); }

static void forget(int sig);

// ---- in a child of the program
//
// The kernel has the child's dispositions and masks. Its handlers are called through one that replaces the kernel's identifier
// of the sender.
static void in_child(int sig, siginfo_t *info, void *context) {
  struct sigaction act = hd_actions[sig];
  if (!handles(&act)) return; // a handler that has interrupted this one has changed it
  if (info->si_code <= 0) info->si_pid = hd_identity_seen(info->si_pid);
  if (act.sa_flags & (int)SA_RESETHAND) hd_actions[sig].sa_handler = SIG_DFL;
  act.sa_sigaction(sig, info, context);
}

static bool of_libc(int sig) { return sig == 32 || sig == 33; }

static int tell_kernel(int sig) {
  struct sigaction act = hd_actions[sig];
  if (handles(&act)) {
    act.sa_sigaction = in_child;
    act.sa_flags |= SA_SIGINFO;
  }
  return REAL(sigaction)(sig, &act, NULL) ? EINVAL : 0;
}

static int child_action(int sig, const struct sigaction *act, struct sigaction *old) {
  if (!hd_signal_valid(sig) || of_libc(sig)) return EINVAL;
  struct sigaction before = hd_actions[sig];
  if (act && (sig == SIGKILL || sig == SIGSTOP)) return EINVAL;
  if (act) {
    hd_actions[sig] = *act;
    int err = tell_kernel(sig);
    if (err) return err;
  }
  if (old) *old = before;
  return 0;
}

void hd_signals_release(const struct hd_thread *t) {
  uint64_t mask = t ? t->signals.mask : mask_at_main;
  stack_t ss = { .ss_flags = SS_DISABLE };
  if (!t) hd_copy(hd_actions, actions_at_main, sizeof hd_actions);
  if (t && t->signals.alt_size) ss = (stack_t){ .ss_sp = (void *)t->signals.alt_lo, .ss_size = t->signals.alt_size };
  hd.process_pending = hd.npending = 0;
  if (t) hd.cur->signals.pending = 0;
  for (int sig = 1; sig < NSIG; sig++)
    if (!of_libc(sig) && sig != SIGKILL && sig != SIGSTOP) tell_kernel(sig);
  hd_sys(SYS_sigaltstack, &ss, 0, 0);
  hd_signals_unblock(mask);
}

struct kernel_action { void *handler; unsigned long flags; void *restorer; uint64_t mask; };
static struct kernel_action before_ignored[NSIG];

uint64_t hd_signals_ignore(uint64_t keep) {
  uint64_t set = 0;
  for (int sig = 1; sig < NSIG; sig++) {
    if (of_libc(sig) || keep & hd_bit(sig)) continue;
    struct kernel_action action = { .handler = (void *)SIG_IGN };
    if (hd_actions[sig].sa_handler != SIG_IGN) {
      // The kernel may ignore what was ignored when heddle began, as under nohup.
      struct kernel_action now;
      if (hd_sys4(SYS_rt_sigaction, sig, 0, &now, 8) != 0 || now.handler != (void *)SIG_IGN) continue;
      action.handler = (void *)SIG_DFL;
    }
    if (hd_sys4(SYS_rt_sigaction, sig, &action, &before_ignored[sig], 8) == 0) set |= hd_bit(sig);
  }
  return set;
}

void hd_signals_heed(uint64_t set) {
  for (int sig = 1; sig < NSIG; sig++)
    if (set & hd_bit(sig)) hd_sys4(SYS_rt_sigaction, sig, &before_ignored[sig], 0, 8);
}

// 0 or EINVAL.
static int set_action(int sig, const struct sigaction *act, struct sigaction *old, uint64_t pc) {
  if (!hd_signal_valid(sig)) return EINVAL;
  struct sigaction new;
  if (act) {
    hd_fetch(&new, act, sizeof new, pc);
    if (sig == SIGKILL || sig == SIGSTOP) return EINVAL;
    struct hd_thread *t = hd_op(HD_OP_SIGNAL_ACTION, pc, 0);
    t->pend.obj = handles(&new) ? (uint64_t)new.sa_handler : 0;
    hd_progress(t);
    hd_commit(t, (uint64_t)sig, 0);
    if (handles(&new)) hd.handlers = true;
    if (handles(&new)) HD_CALL_MODULES(handled, sig, pc);
  }
  if (old) {
    hd_refresh(old, sizeof *old, pc);
    *old = hd_actions[sig];
  }
  if (act) {
    changed = true;
    hd_actions[sig] = new;
    hd.restarting = new.sa_flags & SA_RESTART ? hd.restarting | hd_bit(sig) : hd.restarting & ~hd_bit(sig);
    if (ignored(sig)) forget(sig);
    hd_update_all();
    hd_kernel_exit(pc);
  }
  return 0;
}

int hd_signal_action(int sig, const struct sigaction *act, struct sigaction *old, uint64_t pc) {
  if (hd_active()) return set_action(sig, act, old, pc);
  if (hd_mode == HD_CHILD) return child_action(sig, act, old);
  if (!hd_signal_valid(sig)) return EINVAL; // before main: in force from main on, and never set in the kernel
  if (old) *old = actions_at_main[sig];
  if (act) {
    actions_at_main[sig] = *act;
    if (handles(act)) handlers_at_main = true;
  }
  changed = true;
  return 0;
}

HD_INTERPOSE_CONTROLLED(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old), (sig, act, old)) {
  int err = hd_signal_action(sig, act, old, HD_RA);
  if (err) errno = err;
  return err ? -1 : 0;
}

static void (*install(int sig, void (*handler)(int), int flags, uint64_t pc))(int) {
  struct sigaction act, old;
  hd_fill(&act, 0, sizeof act);
  act.sa_handler = handler;
  act.sa_flags = flags;
  int err = hd_signal_action(sig, &act, &old, pc);
  if (err) errno = err;
  return err ? SIG_ERR : old.sa_handler;
}

HD_EXPORT void (*signal(int sig, void (*handler)(int)))(int) {
  return hd_controlled() ? install(sig, handler, SA_RESTART, HD_RA) : (void (*)(int))REAL(signal)(sig, (void *)handler);
}
HD_EXPORT void (*bsd_signal(int sig, void (*handler)(int)))(int) {
  return hd_controlled() ? install(sig, handler, SA_RESTART, HD_RA) : (void (*)(int))REAL(signal)(sig, (void *)handler);
}
// signal as strict ISO C headers have it.
HD_EXPORT void (*__sysv_signal(int sig, void (*handler)(int)))(int) {
  return hd_controlled() ? install(sig, handler, SA_RESETHAND | SA_NODEFER, HD_RA) : (void (*)(int))REAL(__sysv_signal)(sig, (void *)handler);
}
HD_EXPORT void (*sysv_signal(int sig, void (*handler)(int)))(int) __attribute__((alias("__sysv_signal")));

HD_INTERPOSE_CONTROLLED(int, siginterrupt, (int sig, int on), (sig, on)) {
  struct sigaction act;
  if (sigaction(sig, NULL, &act) < 0) return -1;
  if (on) act.sa_flags &= ~SA_RESTART;
  else act.sa_flags |= SA_RESTART;
  return sigaction(sig, &act, NULL);
}

// ---- masks
int hd_signal_mask(int how, const sigset_t *set, sigset_t *old, uint64_t pc) {
  if (hd_mode == HD_CHILD) return REAL(pthread_sigmask)(how, set, old);
  struct hd_thread *t = hd.cur;
  uint64_t now = hd_active() ? t->signals.mask : mask_at_main, next = now;
  if (set) {
    uint64_t s;
    if (hd_active()) hd_fetch(&s, set, sizeof s, pc);
    else s = *(const uint64_t *)set;
    switch (how) {
    case SIG_BLOCK: next |= s; break;
    case SIG_UNBLOCK: next &= ~s; break;
    case SIG_SETMASK: next = s; break;
    default: return EINVAL;
    }
    next &= ~(hd_bit(SIGKILL) | hd_bit(SIGSTOP));
  }
  if (old) {
    if (hd_active()) hd_refresh(old, sizeof *old, pc);
    hd_fill(old, 0, sizeof *old);
    *(uint64_t *)old = now;
  }
  if (!set) return 0;
  if (!hd_active()) {
    mask_at_main = next;
    return 0;
  }
  hd_op(HD_OP_SIGNAL_MASK, pc, 0);
  t->signals.mask = next;
  hd_commit(t, next, 0);
  hd_deliver_due(t, pc);
  return 0;
}
HD_INTERPOSE_CONTROLLED(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old)) {
  return hd_signal_mask(how, set, old, HD_RA);
}
HD_INTERPOSE_CONTROLLED(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old)) {
  int err = hd_signal_mask(how, set, old, HD_RA);
  if (err) errno = err;
  return err ? -1 : 0;
}

void hd_mask_for_call(const sigset_t *mask, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  uint64_t to;
  if (!mask) return;
  hd_fetch(&to, mask, sizeof to, pc);
  to &= ~(hd_bit(SIGKILL) | hd_bit(SIGSTOP));
  if (to == t->signals.mask) return;
  hd_op(HD_OP_SIGNAL_MASK, pc, 0);
  t->signals.mask_back = t->signals.mask;
  t->signals.mask = to;
  t->signals.masked = true;
  hd_commit(t, to, 0);
}

void hd_mask_back(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (!t->signals.masked) return;
  t->signals.mask = t->signals.mask_back;
  t->signals.masked = false;
  t->pend.pc = pc;
  hd_note(t, HD_OP_SIGNAL_MASK, 0, 0, t->signals.mask);
  hd_deliver_due(t, pc);
}

// ---- pending
static uint64_t *bits_of(uint32_t target) { return target == HD_PROCESS ? &hd.process_pending : &hd_threads[target].signals.pending; }

HD_INTERPOSE(int, sigpending, (sigset_t *set), (set)) {
  hd_refresh(set, sizeof *set, HD_RA);
  struct hd_thread *t = hd_op(HD_OP_SIGNAL_PENDING, HD_RA, 0);
  uint64_t all = hd_signals_pending(t);
  hd_commit(t, all, 0);
  hd_observe(t, HD_RA, all);
  hd_fill(set, 0, sizeof *set);
  *(uint64_t *)set = all;
  hd_kernel_exit(HD_RA);
  return 0;
}

static bool room_for_one(void) { return hd.npending < QUEUE; }

static void put(const struct hd_signal *s) {
  uint64_t *bits = bits_of(s->target);
  if (s->sig < REALTIME && *bits & hd_bit(s->sig)) return; // standard signals do not queue
  if (!room_for_one()) return;
  *bits |= hd_bit(s->sig);
  hd_signals_sent[s->sig]++;
  queue[hd.npending++] = *s;
}

static void remove_at(uint32_t i) {
  struct hd_signal gone = queue[i];
  hd.npending--;
  for (; i < hd.npending; i++) queue[i] = queue[i + 1];
  for (i = 0; i < hd.npending; i++)
    if (queue[i].sig == gone.sig && queue[i].target == gone.target) return;
  *bits_of(gone.target) &= ~hd_bit(gone.sig);
}

static void thread_gone(struct hd_thread *t) {
  for (uint32_t i = 0; i < hd.npending;)
    if (queue[i].target == t->index) remove_at(i);
    else i++;
}

static void forget(int sig) {
  for (uint32_t i = 0; i < hd.npending;)
    if (queue[i].sig == sig) remove_at(i);
    else i++;
}

// The thread's own before the process's, and the lowest number first, as Linux does.
bool hd_signal_take(struct hd_thread *t, uint64_t set, struct hd_signal *out) {
  uint32_t target = t->signals.pending & set ? t->index : HD_PROCESS;
  uint64_t bits = *bits_of(target) & set;
  if (!bits) return false;
  int sig = __builtin_ctzll(bits) + 1;
  for (uint32_t i = 0; i < hd.npending; i++)
    if (queue[i].sig == sig && queue[i].target == target) {
      *out = queue[i];
      remove_at(i);
      return true;
    }
  return false;
}

bool hd_signal_pending_of(const struct hd_timer *tm) {
  for (uint32_t i = 0; i < hd.npending; i++)
    if (queue[i].timer == tm) return true;
  return false;
}

void hd_signal_info(siginfo_t *info, const struct hd_signal *s) {
  hd_fill(info, 0, sizeof *info);
  info->si_signo = s->sig;
  info->si_code = s->code;
  if (s->timer) { s->taken(s->timer, info); return; }
  info->si_pid = hd_pid();
  info->si_uid = (uid_t)hd_sys(SYS_getuid, 0, 0, 0);
  if (s->code == SI_QUEUE) info->si_value = s->value;
  if (s->child) {
    info->si_pid = s->child;
    if (s->code > 0) info->si_status = s->status;
  }
}

// ---- sending
// Reports whether no thread takes it now: all block it, or one waits for it.
static bool held(uint32_t target, int sig) {
  if (sig == SIGKILL || sig == SIGSTOP) return false;
  if (target != HD_PROCESS) return hd_threads[target].signals.mask & hd_bit(sig) || hd_signal_waited(&hd_threads[target], sig);
  bool anybody = false;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    if (hd_signal_waited(&hd_threads[i], sig)) return true;
    anybody = anybody || hd_signal_takes(&hd_threads[i], sig);
  }
  return !anybody;
}

void hd_signal_fatal(int sig, uint64_t pc) {
  if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) {
    hd.cur->pend.pc = pc;
    hd_unsupported("a signal that stops the process");
  }
  hd_end(sig == SIGABRT ? HD_OUT_ASSERT : HD_OUT_SIGNAL, sig == SIGABRT ? 0 : sig, pc, 0, sig == SIGABRT ? "abort" : NULL);
}

void hd_signal_generate(const struct hd_signal *s, uint64_t pc) {
  if (!held(s->target, s->sig)) {
    if (ignored(s->sig)) return;
    if (!hd_signal_handled(s->sig)) hd_signal_fatal(s->sig, pc);
  }
  put(s);
  hd_update_all();
}

// pthread_kill accepts a thread that has ended and was not joined; it ignores the signal (glibc 2.34
// and later).
int hd_signal_send(struct hd_thread *target, int sig, int code, union sigval value, uint64_t pc) {
  if (target) target->referred++;
  struct hd_thread *t = hd_op(HD_OP_SIGNAL_SEND, pc, target ? target->fs : 0);
  if (target) target->referred--;
  t->pend.aux = target ? target->number + 1 : 0;
  bool gone = target && target->ended;
  int err = gone ? (code == SI_TKILL ? 0 : ESRCH) : !room_for_one() ? EAGAIN : 0;
  if (!err && !gone) hd_progress(t);
  hd_commit(t, (uint64_t)sig, err);
  if (err || gone) return err;
  struct hd_signal s = { .sig = sig, .code = code, .target = target ? target->index : HD_PROCESS, .sender = t->number + 1, .value = value };
  hd_signal_generate(&s, pc);
  if (hd_signal_only_for(s.target, sig, t)) hd_deliver_due(t, pc);
  else hd_kernel_exit(pc);
  return 0;
}

static const union sigval none;

void hd_signal_abort(uint64_t pc) {
  if (!hd_signal_handled(SIGABRT)) return;
  hd.cur->signals.mask &= ~hd_bit(SIGABRT);
  hd_signal_send(hd.cur, SIGABRT, SI_TKILL, none, pc);
}

void hd_signal_kernel(int sig) {
  struct hd_signal s = { .sig = sig, .code = SI_KERNEL, .target = hd.cur->index };
  put(&s);
}

static int kill_thread(pthread_t id, int sig, int code, union sigval value, uint64_t pc) {
  if (sig != 0 && !hd_signal_valid(sig)) return EINVAL;
  struct hd_thread *u = hd_thread_of(id);
  if (!u || u->joined) hd_misuse(pc, id, "a signal for an identifier that names no thread");
  if (sig == 0) return u->ended && code != SI_TKILL ? ESRCH : 0;
  return hd_signal_send(u, sig, code, value, pc);
}

HD_INTERPOSE(int, pthread_kill, (pthread_t id, int sig), (id, sig)) { return kill_thread(id, sig, SI_TKILL, none, HD_RA); }
HD_INTERPOSE(int, pthread_sigqueue, (pthread_t id, int sig, const union sigval value), (id, sig, value)) {
  return kill_thread(id, sig, SI_QUEUE, value, HD_RA);
}

static int result(int err) {
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_INTERPOSE(int, raise, (int sig), (sig)) {
  return result(hd_signal_valid(sig) ? hd_signal_send(hd.cur, sig, SI_TKILL, none, HD_RA) : EINVAL);
}

// Main's identifier is also the process's.
HD_EXPORT int tgkill(pid_t pid, pid_t tid, int sig) {
  if (!hd_active()) {
    long process = hd_identity_kernels(pid);
    if (hd_identity_is_program(process)) hd_refuse("a child process of the program, forked and without exec, sends a signal to a thread of the program");
    return REAL(tgkill)((pid_t)process, (pid_t)hd_identity_kernels(tid), sig);
  }
  hd_reach(HD_RA);
  HD_CALLED(HD_RA);
  if (pid != hd_pid()) hd_unsupported("tgkill of another process");
  struct hd_thread *u = hd_thread_numbered(tid == pid ? 0 : (uint32_t)(tid - HD_TID_BASE));
  if (!u || u->fires || u->ended) return result(ESRCH);
  if (sig == 0) return 0;
  return result(hd_signal_valid(sig) ? hd_signal_send(u, sig, SI_TKILL, none, HD_RA) : EINVAL);
}

// ---- waiting
// The number, -EAGAIN or -EINTR.
static int wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout, enum hd_intr intr, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  uint64_t wanted;
  struct timespec for_;
  hd_fetch(&wanted, set, sizeof wanted, pc);
  if (timeout) hd_fetch(&for_, timeout, sizeof for_, pc);
  if (info) hd_refresh(info, sizeof *info, pc);
  if (timeout && (for_.tv_nsec < 0 || for_.tv_nsec >= 1000000000 || for_.tv_sec < 0)) return -EINVAL;
  hd_pend(t, HD_OP_SIGNAL_WAIT, pc, t->fs);
  t->pend.aux = wanted;
  hd_block_on(t, (uint64_t)&hd.process_pending, 0);
  t->wait.intr = (uint8_t)intr;
  if (timeout) {
    struct hd_deadline d = { hd_after((uint64_t)for_.tv_sec * 1000000000ull + (uint64_t)for_.tv_nsec) };
    hd_timer(t, &d);
  }
  hd_point_cancel(t);
  struct hd_signal s;
  int err = t->wait.interrupted ? EINTR : !hd_signal_take(t, t->pend.aux, &s) ? EAGAIN : 0;
  if (err) {
    hd_commit(t, 0, err);
    if (err == EAGAIN) hd_timed_out(t, pc);
    return -err;
  }
  hd_progress(t);
  hd_commit(t, (uint64_t)s.sig, 0);
  hd_update_all();
  siginfo_t taken;
  hd_signal_info(&taken, &s);
  if (info) *info = taken;
  return s.sig;
}

HD_INTERPOSE(int, sigwait, (const sigset_t *set, int *sig), (set, sig)) {
  hd_refresh(sig, sizeof *sig, HD_RA);
  *sig = wait(set, NULL, NULL, HD_INTR_NEVER, HD_RA);
  return 0;
}
// Of a child of the program: the number that the call has returned.
static int accepted(int sig, siginfo_t *info) {
  if (sig > 0 && info && info->si_code <= 0) info->si_pid = hd_identity_seen(info->si_pid);
  return sig;
}
HD_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  if (!hd_active()) return accepted(REAL(sigwaitinfo)(set, info), info);
  hd_reach(HD_RA);
  HD_CALLED(HD_RA);
  int r = wait(set, info, NULL, HD_INTR_ALWAYS, HD_RA);
  return r < 0 ? result(-r) : r;
}
HD_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) {
  if (!hd_active()) return accepted(REAL(sigtimedwait)(set, info, timeout), info);
  hd_reach(HD_RA);
  HD_CALLED(HD_RA);
  int r = wait(set, info, timeout, HD_INTR_ALWAYS, HD_RA);
  return r < 0 ? result(-r) : r;
}

// sigsuspend and pause: one event from which on a handler ends the call, and one when it has.
// A signal that comes before the first does not end it.
int hd_signal_suspend(bool change, uint64_t to, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  hd_op(HD_OP_SIGNAL_SUSPEND, pc, 0);
  t->signals.mask_back = t->signals.mask;
  t->signals.masked = true;
  if (change) t->signals.mask = to & ~(hd_bit(SIGKILL) | hd_bit(SIGSTOP));
  hd_commit(t, t->signals.mask, 0);
  hd_pend(t, HD_OP_SIGNAL_RESUME, pc, 0);
  hd_block_on(t, (uint64_t)&hd.process_pending, 0);
  t->wait.intr = HD_INTR_ALWAYS;
  bool cancelled = hd_cancel_point(t);
  if (cancelled && t->signals.masked) t->signals.mask = t->signals.mask_back;
  t->signals.masked = false;
  hd_commit(t, t->signals.mask, cancelled ? ECANCELED : EINTR);
  if (cancelled) hd_cancel_act(t);
  return result(EINTR);
}

HD_INTERPOSE(int, sigsuspend, (const sigset_t *set), (set)) {
  uint64_t to;
  hd_fetch(&to, set, sizeof to, HD_RA);
  return hd_signal_suspend(true, to, HD_RA);
}
HD_INTERPOSE(int, pause, (void), ()) { return hd_signal_suspend(false, 0, HD_RA); }

// ---- for the scheduler
static void main_thread(struct hd_thread *t) { t->signals.mask = mask_at_main; }

static bool wait_enabled(const struct hd_thread *u) { return u->wait.timed_out || hd_signals_pending(u) & u->pend.aux; }

static const struct hd_operation operations[] = {
  { .op = HD_OP_SIGNAL_WAIT, .enabled = wait_enabled },
  { .op = HD_OP_SIGNAL_RESUME }, // a handler ends it
};

const struct hd_registration hd_signals = { HD_OPERATIONS(operations), .begin = begin, .main = main_thread, .thread_gone = thread_gone };
