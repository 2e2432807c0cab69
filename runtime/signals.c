// signals.c: signals the program sends itself. None reaches it from outside while it is
// controlled. Dispositions, masks and pending signals are the program's own business and
// are kept here, not in the kernel, whose state would outlive the execution.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "rt.h"
#include "sync.h"

static struct sigaction actions[NSIG];
static uint64_t process_pending;

void hd_signals_reset(void) {
  hd_fill(actions, 0, sizeof actions);
  process_pending = 0;
}

static uint64_t bit(int sig) { return 1ull << (sig - 1); }
static bool valid(int sig) { return sig >= 1 && sig < NSIG; }

HD_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
  if (!hd_active()) return REAL(sigaction)(sig, act, old);
  if (!valid(sig) || sig == SIGKILL || sig == SIGSTOP) { errno = EINVAL; return -1; }
  if (old) *old = actions[sig];
  if (act) actions[sig] = *act;
  return 0;
}

HD_EXPORT void (*signal(int sig, void (*handler)(int)))(int) {
  if (!hd_active()) return (void (*)(int))REAL(signal)(sig, (void *)handler);
  struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
  return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static int mask(int how, const sigset_t *set, sigset_t *old) {
  struct hd_thread *t = hd.cur;
  uint64_t now = t->sigmask;
  if (set) {
    uint64_t s = *(const uint64_t *)set;
    switch (how) {
    case SIG_BLOCK: t->sigmask |= s; break;
    case SIG_UNBLOCK: t->sigmask &= ~s; break;
    case SIG_SETMASK: t->sigmask = s; break;
    default: return EINVAL;
    }
    if ((t->sigpending | process_pending) & ~t->sigmask) hd_unsupported("a signal that is delivered when it is unblocked");
  }
  if (old) {
    hd_fill(old, 0, sizeof *old);
    *(uint64_t *)old = now;
  }
  return 0;
}
HD_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return hd_active() ? mask(how, set, old) : REAL(pthread_sigmask)(how, set, old);
}
HD_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  if (!hd_active()) return REAL(sigprocmask)(how, set, old);
  int err = mask(how, set, old);
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_EXPORT int sigpending(sigset_t *set) {
  if (!hd_active()) return REAL(sigpending)(set);
  hd_fill(set, 0, sizeof *set);
  *(uint64_t *)set = hd.cur->sigpending | process_pending;
  return 0;
}

// ---- sending
static bool ignored(int sig) {
  void *h = (void *)actions[sig].sa_handler;
  if (h == (void *)SIG_IGN) return true;
  return h == (void *)SIG_DFL && (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT);
}

bool hd_signal_ignored(int sig) { return ignored(sig); }
bool hd_signal_handled(int sig) { return actions[sig].sa_handler != SIG_DFL && actions[sig].sa_handler != SIG_IGN; }

static bool waited(const struct hd_thread *u, int sig) {
  return !u->ended && u->pend.op == HD_OP_SIGNAL_WAIT && u->needs && u->pend.aux & bit(sig);
}

// target NULL: the process.
static int send(struct hd_thread *target, int sig, uint64_t pc) {
  struct hd_thread *t = hd_op(HD_OP_SIGNAL_SEND, pc, target ? target->fs : 0);
  if (target && target->ended) { hd_commit(t, (uint64_t)sig, ESRCH); return ESRCH; }
  bool held = false;
  if (target) held = target->sigmask & bit(sig) || waited(target, sig);
  else
    for (uint32_t i = 0; i < hd.nthreads && !held; i++) held = waited(&hd_threads[i], sig);
  if (!target && !held) { // goes to a thread that does not block it, if there is one
    held = true;
    for (uint32_t i = 0; i < hd.nthreads && held; i++) held = hd_threads[i].ended || hd_threads[i].sigmask & bit(sig);
  }
  if (!held && ignored(sig)) { hd_commit(t, (uint64_t)sig, 0); return 0; }
  if (!held && actions[sig].sa_handler != SIG_DFL) hd_unsupported("a signal that runs the program's own handler");
  hd_progress(t);
  hd_commit(t, (uint64_t)sig, 0);
  if (!held) hd_end(sig == SIGABRT ? HD_OUT_ASSERT : HD_OUT_SIGNAL, sig == SIGABRT ? 0 : sig, pc, 0, sig == SIGABRT ? "abort" : NULL);
  if (target) target->sigpending |= bit(sig);
  else process_pending |= bit(sig);
  hd_update((uint64_t)&process_pending);
  return 0;
}

HD_EXPORT int pthread_kill(pthread_t id, int sig) {
  if (!hd_active()) return REAL(pthread_kill)(id, sig);
  if (sig != 0 && !valid(sig)) return EINVAL;
  struct hd_thread *u = hd_thread_of(id);
  if (!u || u->joined) hd_misuse(HD_RA, id, "pthread_kill of an identifier that is no thread's");
  return sig == 0 ? (u->ended ? ESRCH : 0) : send(u, sig, HD_RA);
}

HD_EXPORT int raise(int sig) {
  if (!hd_active()) return REAL(raise)(sig);
  if (!valid(sig)) { errno = EINVAL; return -1; }
  return send(hd.cur, sig, HD_RA);
}

HD_EXPORT int kill(int pid, int sig) {
  if (!hd_active()) return REAL(kill)(pid, sig);
  if (pid != 0 && pid != (int)hd_sys(SYS_getpid, 0, 0, 0)) hd_unsupported("kill of another process");
  if (sig == 0) return 0;
  if (!valid(sig)) { errno = EINVAL; return -1; }
  return send(NULL, sig, HD_RA);
}

// ---- waiting
bool hd_signal_ready(const struct hd_thread *u) { return u->timed_out || (u->sigpending | process_pending) & u->pend.aux; }

static HD_PROGACCESS uint64_t set_at(const sigset_t *set) { return *(const uint64_t *)set; }

static int wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  t->pend.pc = pc;
  uint64_t wanted = set_at(set);
  hd_pend(t, HD_OP_SIGNAL_WAIT, pc, t->fs);
  t->pend.aux = wanted;
  hd_need(t, (uint64_t)&process_pending, 0);
  if (timeout) {
    struct hd_deadline d = { hd.vtime + (uint64_t)timeout->tv_sec * 1000000000ull + (uint64_t)timeout->tv_nsec };
    hd_timer(t, &d);
  }
  hd_point_cancel(t);
  uint64_t own = t->sigpending & t->pend.aux, all = process_pending & t->pend.aux;
  if (!own && !all) {
    hd_commit(t, 0, EAGAIN);
    return -EAGAIN;
  }
  int sig = __builtin_ctzll(own ? own : all) + 1;
  if (own) t->sigpending &= ~bit(sig);
  else process_pending &= ~bit(sig);
  hd_progress(t);
  hd_commit(t, (uint64_t)sig, 0);
  hd_update((uint64_t)&process_pending);
  if (info) {
    hd_fill(info, 0, sizeof *info);
    info->si_signo = sig;
    info->si_code = SI_TKILL;
  }
  return sig;
}

HD_EXPORT int sigwait(const sigset_t *set, int *sig) {
  if (!hd_active()) return REAL(sigwait)(set, sig);
  *sig = wait(set, NULL, NULL, HD_RA);
  return 0;
}
HD_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  return hd_active() ? wait(set, info, NULL, HD_RA) : REAL(sigwaitinfo)(set, info);
}
HD_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) {
  if (!hd_active()) return REAL(sigtimedwait)(set, info, timeout);
  int r = wait(set, info, timeout, HD_RA);
  if (r < 0) { errno = -r; return -1; }
  return r;
}
