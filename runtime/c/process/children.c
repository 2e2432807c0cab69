// children.c: processes that the program starts. They run without the runtime and uncontrolled.
// The runtime cannot undo the start of a process, so the execution needs a process of its own
// (HD_ISOLATION_FORK).
//
// The program sees process identifiers that the runtime assigns in the order in which children
// are started, because the kernel's identifiers differ between executions. Waiting for a child
// takes no virtual time: the child runs to its end in one step, unless that takes longer than
// PATIENCE.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/event.h"
#include "core/fiber.h"
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
#include "core/virtual_time.h"
#include "memory/visits.h"
#include "signals/signals.h"
#include "threads/threads.h"
#include "time/time.h"
#include "sync/sync.h"
#include "io/descriptors.h"
#include "io/blocking.h"
#include "io/stdio.h"
#include "process/child.h"
#include "process/process.h"

extern char **environ;

enum { MOST = 1024, FIRST = HD_CHILD_BASE, MS = 1000000 };
static const long PATIENCE = 100 * MS; // ns to wait for a child's end before other threads continue
static const long SILENT = 1000l * MS;   // ns that children may rest before other threads' sleeps take little time
static const long SILENCE = 10000l * MS; // ns to wait for a signal of children that rest
enum { ANSWER = 100 };                 // ms to wait for a child's read or write before other threads continue

static struct {
  pid_t pid;              // 0: fork has not returned yet
  bool waited;
  uint32_t thread;        // number of the thread that forked it
  bool tells;             // it was forked beside other threads, and has a fate
  struct hd_timer *watch; // will send SIGCHLD; NULL: not needed, or already sent
  bool over;              // it has ended, and the program may know
} child[MOST];            // by number - FIRST
static uint32_t nchildren;
static uint64_t waiting; // object on which threads block that wait for a child longer than PATIENCE

static struct hd_fate *fates; // by number - FIRST
static long vain;             // ns that the program has waited for signals of children since one was started or has sent one

static uint64_t mask_around; // of signals that the kernel thread blocks, but for fork
static long program;         // the kernel's identifier of this process, until it is a child

static bool subreaper; // orphans among the descendants become children of the program

static void begin(void) {
  nchildren = 0;
  subreaper = false;
}

static void no_orphans(uint32_t children) {
  if (subreaper && children) hd_unsupported("a child process of a subreaper (PR_SET_CHILD_SUBREAPER): the program would inherit its children");
}

void hd_children_subreaper(bool on) {
  subreaper = on;
  no_orphans(nchildren);
}

// ---- starting processes
static bool over(int number, bool patient, struct hd_signal *s);

// Returns a child's kernel identifier. Between the two halves of a fork, where handlers of pthread_atfork run, the child
// itself knows it first.
static pid_t kernels(uint32_t i) {
  while (!child[i].pid && child[i].tells) {
    child[i].pid = (pid_t)__atomic_load_n(&fates[i].process, __ATOMIC_ACQUIRE);
    if (!child[i].pid) hd_sys(SYS_sched_yield, 0, 0, 0);
  }
  return child[i].pid;
}

static struct hd_thread *start_point(const char *what, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what);
  if (nchildren == MOST) hd_unsupported("more than 1024 child processes in one execution");
  hd_event_settle();
  struct hd_thread *t = hd_op(HD_OP_PROCESS_START, pc, 0);
  hd_arrivals_open();
  hd_pipes_inherited();
  hd_timestamp_trap(false); // off until the child has started, which would inherit it
  hd_priority_apply(t);
  return t;
}

// Ends the operation that start_point began. pid may not be known yet: 0.
static int announced(struct hd_thread *t, long pid, bool tells) {
  child[nchildren].pid = (pid_t)pid;
  child[nchildren].waited = false;
  child[nchildren].tells = tells;
  child[nchildren].thread = t->number;
  child[nchildren].watch = NULL;
  child[nchildren].over = false;
  vain = 0;
  int number = FIRST + (int)nchildren++;
  no_orphans(nchildren);
  hd_progress(t);
  uint64_t pc = t->pend.pc;
  hd_commit(t, (uint64_t)(number - FIRST + 1), 0);
  if (hd_signal_handled(SIGCHLD) || t->signals.mask & hd_bit(SIGCHLD)) child[number - FIRST].watch = hd_timer_child(number, over, pc);
  return number;
}

static int started(struct hd_thread *t, long pid) {
  hd_timestamp_trap(true);
  return announced(t, pid, false);
}

static void handled(int sig, uint64_t pc) {
  if (sig != SIGCHLD) return;
  for (uint32_t i = 0; i < nchildren; i++)
    if (!child[i].waited && !child[i].watch) {
      hd.cur->pend.pc = pc;
      hd_unsupported("a handler for SIGCHLD that is installed after a child process was started: install it before");
    }
}

static int failed(struct hd_thread *t, int err) {
  hd_timestamp_trap(true);
  hd_commit(t, 0, err);
  return err;
}

// ---- fork
//
// The handlers that the program registers with pthread_atfork run within libc's fork, and take and release locks: they
// are scheduled like any code. So the operation lies between the last of them in the parent and the process's start.
static bool forked_beside; // the process about to be started by fork is, and continues as, a copy of one with several threads

static void about_to_fork(void) {
  struct hd_thread *t = start_point(hd.cur->fork.what, hd.cur->fork.pc);
  forked_beside = hd.nborn > 1;
  if (forked_beside) {
    if (!fates) {
      long p = hd_sys6(SYS_mmap, 0, sizeof *fates * MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (p < 0) hd_fatal("no memory for child processes");
      fates = (struct hd_fate *)p;
    }
    hd_fill(&fates[nchildren], 0, sizeof *fates);
  }
  t->fork.number = announced(t, 0, forked_beside);
}

// A signal may reach the child before it has the program's dispositions and masks. So all signals are blocked until then.
static bool models(void) { return hd_mode != HD_PASSIVE && hd_mode != HD_UNKNOWN && hd_mode != HD_CHILD; }
static void before_fork(void) {
  if (!models()) return;
  if (hd_active() && hd.cur->fork.what) about_to_fork();
  program = hd_sys(SYS_getpid, 0, 0, 0);
  mask_around = hd_signals_block();
}

static void after_fork(void) {
  if (models()) hd_signals_unblock(mask_around);
}

// Runs in the child of a fork, which continues without the runtime except for the heap, because it
// has blocks of it.
static void in_child(void) {
  if (hd_mode == HD_PASSIVE || hd_mode == HD_UNKNOWN) return;
  struct hd_thread *t = hd.cur;
  bool active = hd_mode == HD_ACTIVE;
  if (active || hd_mode == HD_CHILD) hd_identity_child(active ? t->fork.number : 0, program);
  if (hd_mode == HD_CHILD) return;
  hd_mode = HD_CHILD;
  if (active && t->fork.what && forked_beside) hd_child_begins(&fates[t->fork.number - FIRST]);
  hd_visits_end(); // while their faults are handled
  hd_crash_remove();
  hd_signals_release(active ? t : NULL);
  if (!active) return;
  hd_own_fds_release();
  hd_name_apply(t);
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
// Called before the program can register handlers: these then run last before the fork and first in the child.
void hd_children_init(void) { __register_atfork(before_fork, after_fork, in_child, NULL); }

static int do_fork(const char *what, uint64_t pc, int (*real)(void)) {
  if (hd_semnamed_used()) hd_unsupported("fork after sem_open: named semaphores work within one process");
  struct hd_thread *t = hd.cur;
  t->pend.pc = pc;
  hd_require_isolation(HD_ISOLATION_FORK, what); // before handlers run
  no_orphans(nchildren + 1);                     // libc's fork holds its lock afterwards
  t->fork.what = what;
  t->fork.pc = pc;
  t->fork.number = 0;
  if (real != REAL(fork)) before_fork(); // _Fork runs no handlers
  int pid = real();
  if (pid == 0) {
    if (hd_mode != HD_CHILD) in_child();
    return 0;
  }
  after_fork();
  t->fork.what = NULL;
  hd_timestamp_trap(true);
  uint32_t i = (uint32_t)t->fork.number - FIRST;
  child[i].pid = pid;
  if (pid > 0) return t->fork.number;
  child[i].waited = true; // the fork failed
  return -1;
}

HD_INTERPOSE(pid_t, fork, (void), ()) { return do_fork("fork", HD_RA, REAL(fork)); }
HD_INTERPOSE(pid_t, _Fork, (void), ()) { return do_fork("_Fork", HD_RA, REAL(_Fork)); }
// fork instead of vfork: a child that shares memory may do nothing with it before exec anyway.
HD_EXPORT pid_t vfork(void) {
  return hd_active() ? do_fork("vfork", HD_RA, REAL(fork)) : REAL(fork)();
}

// Calls libc's function. The new process inherits the thread's mask and ignores what the program ignores.
typedef __typeof__(posix_spawn) spawn_function;
static int spawn_really(spawn_function *real, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *wishes, char *const *argv, char *const *envp) {
  posix_spawnattr_t attr;
  short flags = 0;
  uint64_t defaults = 0;
  sigset_t set;
  posix_spawnattr_init(&attr);
  if (wishes) hd_from_program(&attr, wishes, sizeof attr);
  posix_spawnattr_getflags(&attr, &flags);
  if (flags & POSIX_SPAWN_SETSIGDEF) {
    posix_spawnattr_getsigdefault(&attr, &set);
    defaults = *(uint64_t *)&set;
  }
  if (!(flags & POSIX_SPAWN_SETSIGMASK)) {
    hd_fill(&set, 0, sizeof set);
    *(uint64_t *)&set = hd.cur->signals.mask;
    posix_spawnattr_setsigmask(&attr, &set);
    posix_spawnattr_setflags(&attr, (short)(flags | POSIX_SPAWN_SETSIGMASK));
  }
  uint64_t ignored = hd_signals_ignore(defaults);
  int err = real(pid, path, actions, &attr, argv, envp);
  hd_signals_heed(ignored);
  return err;
}

static int spawn(const char *what, uint64_t pc, spawn_function *real, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, char *const *argv, char *const *envp) {
  struct hd_thread *t = start_point(what, pc);
  pid_t p;
  int err = spawn_really(real, &p, path, actions, attr, argv, envp);
  if (err) return failed(t, err);
  int number = started(t, p);
  if (pid) hd_to_program(pid, &number, sizeof number);
  return 0;
}
HD_INTERPOSE(int, posix_spawn, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, char *const *argv, char *const *envp), (pid, path, actions, attr, argv, envp)) {
  return spawn("posix_spawn", HD_RA, REAL(posix_spawn), pid, path, actions, attr, argv, envp);
}
HD_INTERPOSE(int, posix_spawnp, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, char *const *argv, char *const *envp), (pid, path, actions, attr, argv, envp)) {
  return spawn("posix_spawnp", HD_RA, REAL(posix_spawnp), pid, path, actions, attr, argv, envp);
}

// ---- children that cannot go on
//
// Reports a child that waits for a lock which a thread held when it was forked, or for anything else that only another
// of its threads could do.
static void look_at_children(void) {
  for (uint32_t i = 0; i < nchildren; i++) {
    if (!child[i].tells || child[i].waited || __atomic_load_n(&fates[i].state, __ATOMIC_ACQUIRE) != HD_CHILD_STUCK) continue;
    const struct hd_fate *f = &fates[i];
    hd_end_child(i + 1, child[i].thread, f->op, f->holder, f->pc, f->object, f->frames, f->nframes);
  }
}

// ---- how children end
//
// A child that was started while the program ignored SIGCHLD may be gone without a wait.
static bool exists(long pid) {
  siginfo_t info;
  return hd_sys6(SYS_waitid, P_PID, pid, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0, 0) == 0;
}
static bool how_ended(long pid, siginfo_t *info) { // leaves the child to be waited for
  info->si_pid = 0;
  info->si_code = info->si_status = 0;
  return hd_sys6(SYS_waitid, P_PID, pid, (long)info, WEXITED | WNOHANG | WNOWAIT, 0, 0) != 0 || info->si_pid;
}
static bool ended(long pid) {
  siginfo_t info;
  return how_ended(pid, &info);
}

// ---- signals from children
static int number_of(long pid) { // of the process that has, or had, this identifier in the kernel; 0: no child
  for (uint32_t i = nchildren; i-- > 0;)
    if (kernels(i) == pid) return FIRST + (int)i;
  return 0;
}

// Reports whether a signal is for the program: from a child, or a process that a child has started. Those are in the same
// process group, or have ended.
static bool for_program(const siginfo_t *info) {
  if (number_of(info->si_pid)) return true;
  if (info->si_pid <= 0 || info->si_pid == hd_controller || info->si_pid == hd_sys(SYS_getpid, 0, 0, 0)) return false;
  long group = hd_sys(SYS_getpgid, info->si_pid, 0, 0);
  return group < 0 || group == hd_sys(SYS_getpgid, 0, 0, 0);
}

// Makes pending what children have sent so far. Reports whether they sent anything.
static bool collect(void) {
  siginfo_t info;
  bool any = false;
  while (nchildren && hd_arrival_take(&info)) {
    if (!for_program(&info)) {
      hd_arrival_fatal(info.si_signo);
      continue;
    }
    any = true;
    vain = 0;
    int from = number_of(info.si_pid);
    if (!from || !ended(info.si_pid)) hd.result.notes |= HD_NOTE_EXTERNAL; // when it arrives depends on the child's speed
    struct hd_signal s = { .sig = info.si_signo, .code = info.si_code, .target = HD_PROCESS, .child = from ? from : info.si_pid, .value = info.si_value };
    hd_signal_generate(&s, hd.cur->pend.pc);
  }
  return any;
}

// ---- waiting
//
// Returns the index of the child that a wait is for, -1 if no child is left to wait for. A wait for
// any child is for the one started first, because the order in which children end is
// nondeterministic. With any_ended, a child that has ended takes precedence.
static int wanted(pid_t which, bool any_ended) {
  if (which > 0) {
    uint32_t i = (uint32_t)which - FIRST;
    return i < nchildren && !child[i].waited ? (int)i : -1;
  }
  int first = -1;
  for (uint32_t i = 0; i < nchildren; i++) {
    if (child[i].waited) continue;
    if (first < 0) first = (int)i;
    if (any_ended && ended(kernels(i))) return (int)i;
  }
  return first;
}

static bool meanwhile(void) {
  look_at_children();
  return nchildren && hd_arrival_waits() && collect();
}

static long kernels_child(int pid) {
  int i = wanted(pid ? pid : -1, false);
  return i < 0 ? 0 : kernels((uint32_t)i);
}

// Reports whether a process runs, or would if it had a processor.
static bool runs(long pid) {
  char path[40], text[256];
  long fd = hd_sys(SYS_open, hd_proc_path(path, "/proc/", (uint32_t)pid, "/stat"), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  long n = hd_sys(SYS_read, fd, text, sizeof text);
  hd_sys(SYS_close, fd, 0, 0);
  while (n > 0 && text[n - 1] != ')') n--; // the state follows the name, which may hold any character
  return n > 0 && n + 1 < (long)sizeof text && (text[n + 1] == 'R' || text[n + 1] == 'D');
}

// Sleeps between two checks of the children, longer each time. Time in which the child pid runs
// counts little: it will get on, and how fast depends on the machine's load.
struct patience { long passed, total, told, slice; };
static void rest(struct patience *p, long pid) {
  enum { RUNNING = 20 };
  look_at_children();
  if (HD_UNLIKELY(hd_cut_asked)) hd_cut(hd.cur->pend.pc, hd.cur->pend.obj);
  if (!p->slice) p->slice = 20000;
  struct { long s, ns; } t = { 0, p->slice };
  hd_sys(SYS_nanosleep, &t, NULL, 0);
  p->passed += runs(pid) ? p->slice / RUNNING : p->slice;
  p->total += p->slice;
  if (p->slice < 2 * MS) p->slice *= 2;
  if (p->total - p->told < 50 * MS) return;
  p->told = p->total; // raises the heartbeat, because waiting for a child is not a hang
  __atomic_fetch_add(&hd_shm->heartbeat, 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&hd_shm->stop, __ATOMIC_ACQUIRE) || hd_sys(SYS_getppid, 0, 0, 0) != hd_controller) hd_sys(SYS_exit_group, 0, 0, 0);
}

// Waits at most most ns for the child's end, indefinitely if most < 0. Reports whether it has ended. The wait is over, too,
// when the child rests and has sent a signal: it may expect an answer. What it has sent before it ended is pending then.
static bool wait_really(long pid, long most) {
  for (struct patience p = { 0 }; !ended(pid); rest(&p, pid)) {
    if (hd_arrival_waits() && !runs(pid) && !ended(pid) && collect()) return false;
    if (most >= 0 && p.passed >= most) return false;
  }
  collect();
  return true;
}

// Fills in the SIGCHLD of a child that has ended, once per child: the timer is not needed any more. False: it still runs.
static bool over(int number, bool patient, struct hd_signal *s) {
  uint32_t i = (uint32_t)number - FIRST;
  siginfo_t info;
  if (!wait_really(kernels(i), patient ? -1 : PATIENCE)) return false;
  how_ended(kernels(i), &info);
  s->timer = NULL;
  s->code = info.si_code;
  s->child = number;
  s->status = info.si_status;
  child[i].watch = NULL;
  child[i].over = true;
  hd_io_changed();
  return true;
}

static bool wait_enabled(const struct hd_thread *u) {
  int i = wanted((pid_t)u->pend.aux, true);
  return i < 0 || ended(kernels((uint32_t)i));
}

static bool any_timer(void) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    if (hd.timers.w[w]) return true;
  return false;
}

// Reports whether no other thread can run, now or after time has passed.
static bool alone(const struct hd_thread *t) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    if (hd.enabled.w[w] & ~(w == t->index / 64 ? 1ull << t->index % 64 : 0)) return false;
  return !any_timer();
}

static bool unwatched(void) {
  int i = wanted(-1, false);
  return i >= 0 && !child[i].watch;
}

// Finds a child that has not ended. 0: all have.
static long running(void) {
  for (uint32_t i = 0; i < nchildren; i++)
    if (!child[i].waited && !ended(kernels(i))) return kernels(i);
  return 0;
}

// Reports whether a child's signal may make a difference: a thread waits for one, or a handler may run.
static bool receptive(bool waits) {
  bool handled = false;
  for (int sig = 1; sig < NSIG && !handled; sig++) handled = sig != SIGCHLD && hd_signal_handled(sig);
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u->ended || u->fires) continue;
    if (!waits && handled) return true;
    if (u->pend.op == HD_OP_SIGNAL_WAIT || u->pend.op == HD_OP_SIGNAL_RESUME) return true;
    if (hd_signalfd_any() && (u->pend.op == HD_OP_FD_READ || u->pend.op == HD_OP_FD_POLL)) return true;
    if (handled && (u->wait.intr != HD_INTR_NEVER || u->pend.op == HD_OP_SLEEP || u->pend.op == HD_OP_SEM_WAIT)) return true;
  }
  return false;
}

// Waits at most most ns for signals, while a child runs that could send one. Reports whether any has come.
static bool wait_for_signals(long most) {
  long pid = running();
  struct patience p = { 0 };
  for (; pid; pid = running(), rest(&p, pid)) {
    if (hd_arrival_waits() && !runs(pid) && collect()) return true;
    if (p.passed >= most) break;
  }
  vain += p.passed;
  return collect();
}

static uint64_t next_timer(void) {
  uint64_t first = ~0ull;
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.timers.w[w]; m; m &= m - 1) {
      const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u->wait.deadline < first) first = u->wait.deadline;
    }
  return first;
}

// Real time that children get to send a signal while virtual time passes: as much, at most PATIENCE, and little once they have
// let SILENT pass.
static long grace(uint64_t virtual) {
  long most = vain < SILENT ? PATIENCE : MS;
  return virtual < (uint64_t)most ? (long)virtual : most;
}
static uint64_t until_next_timer(void) {
  uint64_t next = next_timer();
  return next > hd.vtime ? next - hd.vtime : 0;
}

// Time is about to pass although threads are enabled, because they only wait in loops.
static void passes(uint64_t ns) {
  if (hd.cur->pend.op == HD_OP_SLEEP) return; // external waits once it sleeps
  uint64_t most = until_next_timer();
  if (nchildren && receptive(false)) wait_for_signals(grace(ns < most ? ns : most));
}

// Called when no thread is enabled: waits until a child ends that a thread waits for, or sends a signal. Returns false
// if neither can happen, or if the wait takes longer than PATIENCE and another thread has a deadline.
static bool external(void) {
  long pid = 0; // of a child that is waited for
  for (uint32_t i = 0; nchildren && i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (!u->ended && u->wait.on && u->wait.on != (uint64_t)&waiting && hd_child_shares(u->wait.on))
      hd_unsupported("a wait for an object in memory that is shared with a child process: heddle controls the threads of one process");
  }
  if (!nchildren) return false;
  for (struct patience p = { 0 };; rest(&p, pid)) {
    bool any = false;
    long alive = running();
    if ((!alive || (hd_arrival_waits() && !runs(alive))) && collect()) return true;
    for (uint32_t i = 0; i < hd.nthreads; i++) {
      struct hd_thread *u = &hd_threads[i];
      if (u->ended) continue;
      if (u->pend.op == HD_OP_SIGNAL_WAIT && u->pend.aux & hd_bit(SIGCHLD) && unwatched())
        hd_unsupported("a wait for the signal of a child's end (SIGCHLD) that was not blocked when the child was started: block it before");
      if (u->wait.on != (uint64_t)&waiting) continue;
      any = true;
      if (!wait_enabled(u)) {
        pid = kernels((uint32_t)wanted((pid_t)u->pend.aux, true));
        continue;
      }
      hd_update((uint64_t)&waiting);
      return true;
    }
    if (any) {
      if (p.passed > PATIENCE && any_timer()) return false;
      continue;
    }
    if (!alive || !receptive(true)) return false;
    pid = alive;
    bool timer = any_timer();
    if (timer && p.passed >= grace(until_next_timer())) {
      vain += p.passed;
      return collect();
    }
    if (!timer && p.passed > SILENCE) hd_unsupported("a wait for a signal from a child process that does nothing for 10 seconds");
  }
}

// Reports whether a child may end u's wait, with its kernel identifier.
static bool waits_for(const struct hd_thread *u, long *pid) {
  if (u->ended || u->wait.on != (uint64_t)&waiting || hd_has(&hd.enabled, u->index)) return false;
  int i = wanted((pid_t)u->pend.aux, true);
  if (i >= 0) *pid = kernels((uint32_t)i);
  return true;
}

static bool outside(const struct hd_thread *t, hd_say *say) {
  bool any = false;
  long pid;
  for (uint32_t i = 0; nchildren && i < hd.nthreads; i++) {
    if ((t && t != &hd_threads[i]) || !waits_for(&hd_threads[i], &pid)) continue;
    any = true;
    if (say) say("T%u waits for a child process, which has not ended", hd_threads[i].number);
  }
  if (t || !nchildren || !running() || !receptive(false)) return any;
  if (say) say("a child process may send a signal");
  return true;
}

static bool outside_acts(long ns) {
  hd.result.notes |= HD_NOTE_EXTERNAL;
  long pid = 0;
  for (struct patience p = { 0 };; rest(&p, pid)) {
    long alive = running();
    if ((!alive || (hd_arrival_waits() && !runs(alive))) && collect()) return true;
    pid = alive;
    for (uint32_t i = 0; i < hd.nthreads; i++) {
      struct hd_thread *u = &hd_threads[i];
      if (!waits_for(u, &pid) || !wait_enabled(u)) continue;
      hd_update((uint64_t)&waiting);
      return true;
    }
    if (!pid || p.passed >= ns) return false;
  }
}

// Reports whether the program ignores the end of children. A wait then lasts until all children have
// ended, and fails.
static bool unwanted(void) { return hd_actions[SIGCHLD].sa_handler == SIG_IGN || hd_actions[SIGCHLD].sa_flags & SA_NOCLDWAIT; }

static void reap(uint32_t i, struct rusage *usage) {
  if (usage) hd_fill(usage, 0, sizeof *usage);
  hd_sys4(SYS_wait4, kernels(i), NULL, 0, usage);
  child[i].waited = child[i].over = true;
  hd_io_changed();
}

// Waits for a child. Stores how it ended in *info and returns its number; 0: it still runs; negative:
// -errno. options: WNOHANG, WNOWAIT.
static long wait_for(pid_t which, int options, siginfo_t *info, struct rusage *usage, uint64_t pc) {
  if (which < -1 || which == 0) which = -1; // all children belong to one process group
  struct hd_thread *t = hd.cur;
  hd_pend(t, HD_OP_PROCESS_WAIT, pc, 0);
  t->pend.aux = (uint64_t)(int64_t)which;
  hd_point(t);
  int i = wanted(which, false);
  if (i < 0) { failed(t, ECHILD); return -ECHILD; }
  bool soon = alone(t) && !(options & WNOHANG) ? wait_really(kernels((uint32_t)i), -1) : wait_really(kernels((uint32_t)i), PATIENCE);
  if (!soon) { // the child may be waiting for another thread
    hd.result.notes |= HD_NOTE_EXTERNAL;
    if (options & WNOHANG) {
      hd_commit(t, 0, 0);
      hd_observe(t, pc, 0);
      hd_kernel_exit(pc);
      return 0;
    }
    failed(t, EAGAIN);
    hd_pend(t, HD_OP_PROCESS_WAIT, pc, 0);
    t->pend.aux = (uint64_t)(int64_t)which;
    hd_block_on(t, (uint64_t)&waiting, 0);
    t->wait.intr = HD_INTR_RESTART;
    hd_point(t);
    if (t->wait.interrupted) { failed(t, EINTR); return -EINTR; }
    i = wanted(which, true);
    if (i < 0) { failed(t, ECHILD); return -ECHILD; }
    wait_really(kernels((uint32_t)i), -1);
  }
  how_ended(kernels((uint32_t)i), info);
  struct hd_signal s = { .sig = SIGCHLD, .target = HD_PROCESS };
  bool send = child[i].watch && over(FIRST + i, true, &s); // the signal precedes the return of the wait
  if (unwanted()) {
    for (; i >= 0; i = wanted(which, false)) {
      wait_really(kernels((uint32_t)i), -1);
      reap((uint32_t)i, usage);
    }
    failed(t, ECHILD);
    return -ECHILD;
  }
  if (!(options & WNOWAIT)) reap((uint32_t)i, usage);
  hd_progress(t);
  hd_commit(t, (uint64_t)i + 1, 0);
  hd_update((uint64_t)&waiting);
  if (send) hd_signal_generate(&s, pc);
  hd_kernel_exit(pc);
  return FIRST + i;
}

// Returns the status in the format of wait4.
static int status_of(const siginfo_t *i) {
  return i->si_code == CLD_EXITED ? (i->si_status & 0xff) << 8 : i->si_status | (i->si_code == CLD_DUMPED ? 0x80 : 0);
}

static pid_t waited(long r) {
  if (r >= 0) return (pid_t)r;
  errno = (int)-r;
  return -1;
}
static pid_t wait_and_store(pid_t which, int *status, int options, struct rusage *usage, uint64_t pc) {
  siginfo_t info;
  struct rusage used;
  hd.cur->pend.pc = pc;
  if (options & (WUNTRACED | WCONTINUED)) hd_unsupported("waiting for a child process that stops or goes on (WUNTRACED, WCONTINUED)");
  if (options & ~(WNOHANG | __WALL | __WCLONE | __WNOTHREAD)) return waited(-EINVAL);
  long r = wait_for(which, options & WNOHANG, &info, &used, pc);
  int s = r > 0 ? status_of(&info) : 0;
  if (r > 0 && status) hd_to_program(status, &s, sizeof s);
  if (r > 0 && usage) hd_to_program(usage, &used, sizeof used);
  return waited(r);
}
HD_EXPORT pid_t wait(int *status) {
  return hd_active() ? wait_and_store(-1, status, 0, NULL, HD_RA) : REAL(wait4)(-1, status, 0, NULL);
}
HD_EXPORT pid_t waitpid(pid_t which, int *status, int options) {
  return hd_active() ? wait_and_store(which, status, options, NULL, HD_RA) : REAL(wait4)(which, status, options, NULL);
}
HD_EXPORT pid_t wait3(int *status, int options, struct rusage *usage) {
  return hd_active() ? wait_and_store(-1, status, options, usage, HD_RA) : REAL(wait4)(-1, status, options, usage);
}
HD_INTERPOSE(pid_t, wait4, (pid_t which, int *status, int options, struct rusage *usage), (which, status, options, usage)) {
  return wait_and_store(which, status, options, usage, HD_RA);
}

HD_INTERPOSE(int, waitid, (idtype_t what, id_t id, siginfo_t *out, int options), (what, id, out, options)) {
  siginfo_t info, told;
  hd.cur->pend.pc = HD_RA;
  if (options & (WSTOPPED | WCONTINUED)) hd_unsupported("waiting for a child process that stops or goes on (WSTOPPED, WCONTINUED)");
  if (what == P_PGID) hd_unsupported("waitid for a process group");
  if (!(options & WEXITED) || options & ~(WEXITED | WNOHANG | WNOWAIT | __WALL | __WCLONE | __WNOTHREAD)) return waited(-EINVAL);
  bool nonblock = false;
  if (what == P_PIDFD) {
    const struct hd_file *f = hd_file_of((int)id);
    if (!f || f->kind != HD_FD_PIDFD) return waited((int)id < 0 ? -EINVAL : -EBADF);
    if (!f->count) return waited(-ECHILD);
    what = P_PID;
    id = (id_t)f->count;
    nonblock = f->nonblock && !(options & WNOHANG);
    if (nonblock) options |= WNOHANG;
  }
  if (what != P_ALL && (what != P_PID || (int)id <= 0)) return waited(-EINVAL);
  long r = wait_for(what == P_ALL ? -1 : (pid_t)id, options & (WNOHANG | WNOWAIT), &info, NULL, HD_RA);
  if (r < 0) return waited(r);
  if (r == 0 && nonblock) return waited(-EAGAIN);
  hd_fill(&told, 0, sizeof told);
  if (r > 0) {
    told.si_signo = SIGCHLD;
    told.si_code = info.si_code;
    told.si_pid = (pid_t)r;
    told.si_uid = (uid_t)hd_sys(SYS_getuid, 0, 0, 0);
    told.si_status = info.si_status;
  }
  if (out) hd_to_program(out, &told, sizeof told);
  return 0;
}

// Waits for a child's read or write, so that the execution does not depend on the child's speed.
static void answer(int fd, bool write) {
  if (wanted(-1, false) < 0) return;
  hd.result.notes |= HD_NOTE_EXTERNAL;
  struct pollfd p = { .fd = fd, .events = write ? POLLOUT : POLLIN };
  enum { SLICE = 10 };
  for (int passed = 0; passed < ANSWER && !hd_sys(SYS_poll, &p, 1, SLICE); passed += SLICE) {
    look_at_children();
    if (hd_arrival_waits()) break;
  }
  collect();
}

// Waits for a command's output, so that the number of bytes of a read does not depend on its speed.
static void print(int number, int fd, uint64_t n) {
  uint32_t i = (uint32_t)number - FIRST;
  int there = 0;
  for (struct patience p = { 0 }; !child[i].waited && !ended(kernels(i)) && p.passed < PATIENCE; rest(&p, kernels(i)))
    if (hd_sys(SYS_ioctl, fd, FIONREAD, &there) || (uint64_t)there >= n) return;
}

// ---- sending signals
//
// In a child the kernel sends them; numbers that the child has from the program are translated.
static HD_COLD long from_child(int pid, int sig, bool queue, union sigval value) {
  static const char *const what = "a child process of the program, forked and without exec, sends";
  bool group = pid <= 0;
  long to = group ? -hd_identity_kernels_group(-pid) : hd_identity_kernels(pid);
  if (group && (pid == -1 || pid == -hd_pid() || (pid == 0 && hd_identity_with_program()))) hd_refuse("%s a signal to the program's process group", what);
  if (hd_identity_is_program(to) && (sig == SIGKILL || sig == SIGSTOP || (sig == SIGINT && hd_threads_real)))
    hd_refuse("%s the program %s", what, sig == SIGKILL ? "SIGKILL" : sig == SIGSTOP ? "SIGSTOP" : "SIGINT");
  if (!queue) return hd_sys(SYS_kill, to, sig, 0);
  siginfo_t info;
  hd_fill(&info, 0, sizeof info);
  info.si_signo = sig;
  info.si_code = SI_QUEUE;
  info.si_pid = (pid_t)hd_sys(SYS_getpid, 0, 0, 0);
  info.si_uid = (uid_t)hd_sys(SYS_getuid, 0, 0, 0);
  info.si_value = value;
  return hd_sys(SYS_rt_sigqueueinfo, to, sig, &info);
}

static bool is_child(int pid) { return (uint32_t)pid - FIRST < nchildren; } // or was one

// Sends to the child pid. Returns 0 or an errno.
static int to_child(int pid, int sig, bool queue, union sigval value, uint64_t pc) {
  struct hd_thread *t = hd_op(HD_OP_PROCESS_SIGNAL, pc, 0);
  t->pend.aux = (uint64_t)sig;
  int i = wanted(pid, false), err = ESRCH; // another thread may have waited for it at the scheduling point
  siginfo_t info;
  hd_fill(&info, 0, sizeof info);
  if (i >= 0 && exists(kernels((uint32_t)i))) {
    info.si_signo = sig;
    info.si_code = SI_QUEUE;
    info.si_pid = (pid_t)hd_sys(SYS_getpid, 0, 0, 0);
    info.si_uid = (uid_t)hd_sys(SYS_getuid, 0, 0, 0);
    info.si_value = value;
    err = (int)-(queue ? hd_sys(SYS_rt_sigqueueinfo, kernels((uint32_t)i), sig, &info) : hd_sys(SYS_kill, kernels((uint32_t)i), sig, 0));
  }
  hd_commit(t, (uint64_t)(pid - FIRST + 1), err);
  hd_kernel_exit(pc);
  return err;
}

int hd_child_signal(int number, int sig, uint64_t pc) {
  static const union sigval none;
  return to_child(number, sig, false, none, pc);
}

enum hd_child_state hd_child_state(int number) {
  if (!is_child(number)) return HD_CHILD_UNKNOWN;
  uint32_t i = (uint32_t)number - FIRST;
  return child[i].waited ? HD_CHILD_REAPED : child[i].over ? HD_CHILD_OVER : HD_CHILD_ALIVE;
}

void hd_child_watch(int number, uint64_t pc) {
  uint32_t i = (uint32_t)number - FIRST;
  if (!child[i].watch && !child[i].over) child[i].watch = hd_timer_child(number, over, pc);
}

static int to_self(int sig, int code, union sigval value, uint64_t pc) {
  return sig == 0 ? 0 : hd_signal_valid(sig) ? hd_signal_send(NULL, sig, code, value, pc) : EINVAL;
}

// The program's process group: itself and the children that have not left it.
static int to_group(int sig, uint64_t pc) {
  static const union sigval none;
  for (uint32_t i = 0; i < nchildren; i++)
    if (!child[i].waited && hd_sys(SYS_getpgid, kernels(i), 0, 0) == hd_sys(SYS_getpgid, 0, 0, 0)) to_child(FIRST + (int)i, sig, false, none, pc);
  return to_self(sig, SI_USER, none, pc);
}

static int result(int err) {
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_EXPORT int kill(int pid, int sig) {
  static const union sigval none;
  if (!hd_active()) return hd_mode == HD_CHILD ? (int)hd_errno_result(from_child(pid, sig, false, none)) : REAL(kill)(pid, sig);
  if (is_child(pid)) return result(to_child(pid, sig, false, none, HD_RA));
  if (pid == 0 || pid == -hd_pid()) return result(to_group(sig, HD_RA));
  if (pid != hd_pid()) hd_unsupported("kill of another process");
  return result(to_self(sig, SI_USER, none, HD_RA));
}

HD_EXPORT int killpg(int group, int sig) {
  static const union sigval none;
  if (group < 0) return result(EINVAL);
  if (!hd_active()) return hd_mode == HD_CHILD ? (int)hd_errno_result(from_child(-group, sig, false, none)) : REAL(killpg)(group, sig);
  if (group != 0 && group != hd_pid()) hd_unsupported("killpg of another process group");
  return result(to_group(sig, HD_RA));
}

HD_EXPORT int sigqueue(pid_t pid, int sig, const union sigval value) {
  if (!hd_active()) return hd_mode == HD_CHILD ? (int)hd_errno_result(from_child(pid, sig, true, value)) : REAL(sigqueue)(pid, sig, value);
  if (is_child(pid)) return result(to_child(pid, sig, true, value, HD_RA));
  if (pid != hd_pid()) hd_unsupported("sigqueue to another process");
  return result(to_self(sig, SI_QUEUE, value, HD_RA));
}

// ---- the shell
HD_INTERPOSE(int, system, (const char *command), (command)) {
  char *argv[] = { "sh", "-c", (char *)command, NULL };
  pid_t pid;
  if (!command) return 1;
  // POSIX requires that system blocks SIGCHLD and ignores SIGINT and SIGQUIT. Nothing sends the
  // latter two here.
  struct hd_thread *t = hd.cur;
  int err = spawn("system", HD_RA, REAL(posix_spawn), &pid, "/bin/sh", NULL, NULL, argv, environ);
  if (err) { errno = err; return -1; }
  uint64_t mask = t->signals.mask;
  t->signals.mask |= hd_bit(SIGCHLD);
  siginfo_t info;
  long r = wait_for(pid, 0, &info, NULL, HD_RA);
  t->signals.mask = mask;
  hd_deliver_due(t, HD_RA);
  return r < 0 ? waited(r) : status_of(&info);
}

HD_INTERPOSE(FILE *, popen, (const char *command, const char *how), (command, how)) {
  char mode[8];
  hd.cur->pend.pc = HD_RA;
  if (!hd_fetch_string(mode, how, sizeof mode) || (*mode != 'r' && *mode != 'w')) return errno = EINVAL, NULL;
  bool reads = *mode == 'r', cloexec = mode[1] == 'e' || (mode[1] && mode[2] == 'e');
  struct hd_thread *t = start_point("popen", HD_RA);
  int fds[2];
  long err = -hd_sys(SYS_pipe2, fds, O_CLOEXEC, 0);
  if (err) return errno = failed(t, (int)err), NULL;
  int ours = fds[!reads], theirs = fds[reads];
  char *argv[] = { "sh", "-c", (char *)command, NULL };
  posix_spawn_file_actions_t a;
  pid_t pid;
  posix_spawn_file_actions_init(&a);
  posix_spawn_file_actions_adddup2(&a, theirs, reads);
  err = spawn_really(REAL(posix_spawn), &pid, "/bin/sh", &a, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&a);
  hd_sys(SYS_close, theirs, 0, 0);
  if (err) {
    hd_sys(SYS_close, ours, 0, 0);
    return errno = failed(t, (int)err), NULL;
  }
  if (!cloexec) hd_sys(SYS_fcntl, ours, F_SETFD, 0);
  hd_fd_opened();
  return hd_stdio_child(ours, reads ? "r" : "w", started(t, pid), print, HD_RA);
}
HD_INTERPOSE(int, pclose, (FILE *f), (f)) {
  int child = hd_stdio_child_of(f), closed;
  siginfo_t info;
  if (!child) return REAL(pclose)(f); // opened before main
  hd_stdio_close(f, HD_RA, &closed);
  long r = wait_for(child, 0, &info, NULL, HD_RA);
  return r < 0 ? waited(r) : status_of(&info);
}

// ---- exec
//
// The new program runs in a process of its own, and the execution ends when it does. From outside
// this cannot be distinguished from exec: all other threads have ended.
static int replace(int (*how)(const char *, char *const *, char *const *), const char *what, const char *path, char *const *argv, char *const *envp, uint64_t pc) {
  struct hd_thread *t = start_point(what, pc);
  int fds[2] = { -1, -1 }, err = 0, status = 0;
  hd_sys(SYS_pipe2, fds, O_CLOEXEC, 0);
  uint64_t pending = hd_signals_pending(t) & t->signals.mask, mask = hd_signals_block();
  long pid = hd_sys6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
  if (pid == 0) {
    in_child();
    for (; pending; pending &= pending - 1) hd_sys(SYS_kill, hd_sys(SYS_getpid, 0, 0, 0), __builtin_ctzll(pending) + 1, 0);
    hd_timers_pass_on();
    how(path, argv, envp);
    err = errno;
    hd_sys(SYS_write, fds[1], &err, sizeof err);
    hd_sys(SYS_exit_group, 127, 0, 0);
  }
  hd_signals_unblock(mask);
  hd_sys(SYS_close, fds[1], 0, 0);
  if (pid < 0) err = (int)-pid;
  else if (hd_sys(SYS_read, fds[0], &err, sizeof err) != sizeof err) err = 0;
  hd_sys(SYS_close, fds[0], 0, 0);
  if (pid > 0 && err) hd_sys4(SYS_wait4, pid, &status, 0, NULL);
  if (err) { errno = failed(t, err); return -1; }
  started(t, pid);
  for (struct patience p = { 0 }; !ended(pid); rest(&p, pid)) {
    siginfo_t info;
    while (hd_arrival_take(&info)) hd_sys(SYS_kill, pid, info.si_signo, 0); // it has this program's identifier
  }
  hd_sys4(SYS_wait4, pid, &status, 0, NULL);
  child[nchildren - 1].waited = true;
  if (WIFSIGNALED(status)) hd_end(HD_OUT_SIGNAL, WTERMSIG(status), pc, 0, "of the program that took the place of this one");
  hd_end(HD_OUT_CLEAN, WEXITSTATUS(status), 0, 0, NULL);
}

static int by_path(const char *path, char *const *argv, char *const *envp) {
  hd_child_execs(true);
  int r = REAL(execve)(path, argv, envp);
  hd_child_execs(false);
  return r;
}
static int by_name(const char *file, char *const *argv, char *const *envp) {
  hd_child_execs(true);
  int r = REAL(execvpe)(file, argv, envp);
  hd_child_execs(false);
  return r;
}

HD_EXPORT int execve(const char *path, char *const *argv, char *const *envp) {
  return hd_active() ? replace(by_path, "execve", path, argv, envp, HD_RA) : by_path(path, argv, envp);
}
HD_EXPORT int execv(const char *path, char *const *argv) {
  return hd_active() ? replace(by_path, "execv", path, argv, environ, HD_RA) : by_path(path, argv, environ);
}
HD_EXPORT int execvp(const char *file, char *const *argv) {
  return hd_active() ? replace(by_name, "execvp", file, argv, environ, HD_RA) : by_name(file, argv, environ);
}
HD_EXPORT int execvpe(const char *file, char *const *argv, char *const *envp) {
  return hd_active() ? replace(by_name, "execvpe", file, argv, envp, HD_RA) : by_name(file, argv, envp);
}
enum { MOST_ARGS = 4096 };
#define LIST(first) \
  char *argv[MOST_ARGS]; \
  uint32_t n = 0; \
  va_list ap; \
  va_start(ap, first); \
  for (char *a = (char *)first; a && n < MOST_ARGS - 1; a = va_arg(ap, char *)) argv[n++] = a; \
  argv[n] = NULL
HD_EXPORT int execl(const char *path, const char *first, ...) {
  LIST(first);
  return hd_active() ? replace(by_path, "execl", path, argv, environ, HD_RA) : by_path(path, argv, environ);
}
HD_EXPORT int execlp(const char *file, const char *first, ...) {
  LIST(first);
  return hd_active() ? replace(by_name, "execlp", file, argv, environ, HD_RA) : by_name(file, argv, environ);
}
HD_EXPORT int execle(const char *path, const char *first, ...) {
  LIST(first);
  char *const *envp = va_arg(ap, char *const *);
  return hd_active() ? replace(by_path, "execle", path, argv, envp, HD_RA) : by_path(path, argv, envp);
}

// ---- the end of the execution
//
// A child that is still running may be about to wait for a lock that no thread will release.
static void leaving(void) {
  for (uint32_t i = 0; i < nchildren; i++)
    for (struct patience p = { 0 }; child[i].tells && !child[i].waited && !ended(kernels(i)) && p.passed < PATIENCE; rest(&p, kernels(i)))
      if (__atomic_load_n(&fates[i].state, __ATOMIC_ACQUIRE) == HD_CHILD_EXECS) break;
}

// Remaining children would disturb the next execution.
static void end(void) {
  for (uint32_t i = 0; i < nchildren; i++) {
    if (child[i].waited) continue;
    if (!exists(kernels(i))) continue;
    hd_sys(SYS_kill, kernels(i), SIGKILL, 0);
    hd_sys4(SYS_wait4, kernels(i), NULL, 0, NULL);
  }
}

// ---- registration
static const struct hd_operation operations[] = { { .op = HD_OP_PROCESS_WAIT, .enabled = wait_enabled } };

const struct hd_registration hd_children = {
  HD_OPERATIONS(operations), .begin = begin, .end = end, .external = external, .outside = outside, .outside_acts = outside_acts, .meanwhile = meanwhile, .passes = passes, .leaving = leaving, .handled = handled, .external_used = answer, .child = kernels_child,
};
