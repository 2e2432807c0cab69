// priority.c: scheduling policies, priorities, nice values, and what else the kernel keeps for each thread to
// schedule it. None of it has an effect on heddle's scheduling. It is stored per thread here, because the
// kernel's is the carrier's and would outlive the execution. Whether a thread may change it is decided as the
// kernel does (user_check_sched_setscheduler and set_one_prio of Linux 6.18).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"

static __typeof__(((struct hd_thread *)0)->attributes) at_main;

static int kernels_nice(void) { return 20 - (int)hd_sys(SYS_getpriority, PRIO_PROCESS, 0, 0); }

static void save(void) {
  struct sched_param p = { 0 };
  hd_sys(SYS_sched_getparam, 0, &p, 0);
  at_main.policy = (int)hd_sys(SYS_sched_getscheduler, 0, 0, 0);
  at_main.priority = p.sched_priority;
  at_main.nice = kernels_nice();
  at_main.slack = at_main.default_slack = (uint64_t)hd_sys(SYS_prctl, PR_GET_TIMERSLACK, 0, 0);
  at_main.no_new_privs = hd_sys6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1;
}

static void inherit(struct hd_thread *u, const __typeof__(at_main) *from) {
  u->attributes.policy = from->policy;
  u->attributes.priority = from->priority;
  u->attributes.nice = from->nice;
  u->attributes.slack = u->attributes.default_slack = from->slack;
  u->attributes.no_new_privs = from->no_new_privs;
}

static bool realtime(int policy) {
  policy &= ~SCHED_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

void hd_priority_inherits(struct hd_thread *u, const struct hd_thread *parent) {
  inherit(u, parent->fires ? &at_main : &parent->attributes); // a timer's thread
  if (!(u->attributes.policy & SCHED_RESET_ON_FORK)) return;
  u->attributes.policy &= ~SCHED_RESET_ON_FORK;
  if (realtime(u->attributes.policy)) u->attributes.policy = SCHED_OTHER, u->attributes.priority = u->attributes.nice = 0;
  if (u->attributes.nice < 0) u->attributes.nice = 0;
}

static void begin(struct hd_thread *main) { inherit(main, &at_main); }

// ---- permissions
static uint64_t limit(int resource) {
  struct rlimit r = { 0 };
  hd_sys4(SYS_prlimit64, 0, resource, NULL, &r);
  return r.rlim_cur;
}

static bool limit_permits(int nice) { return (uint64_t)(20 - nice) <= limit(RLIMIT_NICE); }

// Reports whether the program has CAP_SYS_NICE. capget also reports a capability that only counts within the
// program's user namespace, so the kernel is asked by trying, where no limit permits the change.
static bool capable(void) {
  int nice = kernels_nice();
  if (nice > -20 && !limit_permits(nice - 1)) {
    if (hd_sys(SYS_setpriority, PRIO_PROCESS, 0, nice - 1) != 0) return false;
    hd_sys(SYS_setpriority, PRIO_PROCESS, 0, nice);
    return true;
  }
  struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct d[2] = { 0 };
  return hd_sys(SYS_capget, &h, d, 0) == 0 && d[0].effective >> CAP_SYS_NICE & 1;
}

static bool may_set(const struct hd_thread *u, int policy, int priority) {
  int was = u->attributes.policy & ~SCHED_RESET_ON_FORK, to = policy & ~SCHED_RESET_ON_FORK;
  bool free = true;
  if (realtime(to)) {
    uint64_t most = limit(RLIMIT_RTPRIO);
    if (to != was && !most) free = false;
    if (priority > u->attributes.priority && (uint64_t)priority > most) free = false;
  }
  if (was == SCHED_IDLE && to != SCHED_IDLE && !limit_permits(u->attributes.nice)) free = false;
  if (u->attributes.policy & SCHED_RESET_ON_FORK && !(policy & SCHED_RESET_ON_FORK)) free = false;
  return free || capable();
}

// ---- policies and priorities
static bool suits(int policy, int priority) {
  switch (policy & ~SCHED_RESET_ON_FORK) {
  case SCHED_OTHER: case SCHED_BATCH: case SCHED_IDLE: return priority == 0;
  case SCHED_FIFO: case SCHED_RR: return priority >= 1 && priority <= 99;
  }
  return false;
}

static int set_sched(struct hd_thread *u, int policy, int priority, uint64_t pc) {
  if (!suits(policy, priority)) return EINVAL;
  if (!may_set(u, policy, priority)) return EPERM;
  hd_attribute_used(u, HD_ATTRIBUTE_PRIORITY, HD_CHANGES, pc);
  u->attributes.policy = policy;
  u->attributes.priority = priority;
  return 0;
}

static long set_nice(struct hd_thread *u, int nice, uint64_t pc) {
  if (nice < u->attributes.nice && !limit_permits(nice) && !capable()) return -EACCES;
  hd_attribute_used(u, HD_ATTRIBUTE_NICE, HD_CHANGES, pc);
  u->attributes.nice = nice;
  return 0;
}

static int nice_of(const struct hd_thread *u, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_NICE, HD_LOOKS_AT, pc);
  return u->attributes.nice;
}

static HD_PROGACCESS int priority_in(const struct sched_param *p) { return p->sched_priority; }

static int policy_of(const struct hd_thread *u, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_PRIORITY, HD_LOOKS_AT, pc);
  return u->attributes.policy;
}

static HD_PROGACCESS int get_sched(const struct hd_thread *u, int *policy, struct sched_param *p, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_PRIORITY, HD_LOOKS_AT, pc);
  if (policy) *policy = u->attributes.policy;
  p->sched_priority = u->attributes.priority;
  return 0;
}

HD_INTERPOSE(int, pthread_setschedparam, (pthread_t id, int policy, const struct sched_param *p), (id, policy, p)) {
  struct hd_thread *u = hd_thread_valid(id, HD_RA);
  return set_sched(u, policy, priority_in(p), HD_RA);
}
HD_INTERPOSE(int, pthread_getschedparam, (pthread_t id, int *policy, struct sched_param *p), (id, policy, p)) {
  return get_sched(hd_thread_valid(id, HD_RA), policy, p, HD_RA);
}
HD_INTERPOSE(int, pthread_setschedprio, (pthread_t id, int priority), (id, priority)) {
  struct hd_thread *u = hd_thread_valid(id, HD_RA);
  return set_sched(u, policy_of(u, HD_RA), priority, HD_RA);
}

static int result(long r) { return (int)hd_errno_result(r); }

HD_INTERPOSE(int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *p), ((pid_t)hd_identity_kernels(pid), policy, p)) {
  struct hd_named n;
  if (pid < 0 || !p) return result(-EINVAL);
  if (!hd_named(pid, "sched_setscheduler", HD_RA, &n)) return result(-ESRCH);
  return result(n.thread ? -set_sched(n.thread, policy, priority_in(p), HD_RA) : hd_sys(SYS_sched_setscheduler, n.process, policy, p));
}
HD_INTERPOSE(int, sched_getscheduler, (pid_t pid), ((pid_t)hd_identity_kernels(pid))) {
  struct hd_named n;
  if (pid < 0) return result(-EINVAL);
  if (!hd_named(pid, "sched_getscheduler", HD_RA, &n)) return result(-ESRCH);
  return result(n.thread ? policy_of(n.thread, HD_RA) : hd_sys(SYS_sched_getscheduler, n.process, 0, 0));
}
HD_INTERPOSE(int, sched_setparam, (pid_t pid, const struct sched_param *p), ((pid_t)hd_identity_kernels(pid), p)) {
  struct hd_named n;
  if (pid < 0 || !p) return result(-EINVAL);
  if (!hd_named(pid, "sched_setparam", HD_RA, &n)) return result(-ESRCH);
  return result(n.thread ? -set_sched(n.thread, policy_of(n.thread, HD_RA), priority_in(p), HD_RA) : hd_sys(SYS_sched_setparam, n.process, p, 0));
}
HD_INTERPOSE(int, sched_getparam, (pid_t pid, struct sched_param *p), ((pid_t)hd_identity_kernels(pid), p)) {
  struct hd_named n;
  if (pid < 0 || !p) return result(-EINVAL);
  if (!hd_named(pid, "sched_getparam", HD_RA, &n)) return result(-ESRCH);
  return result(n.thread ? get_sched(n.thread, NULL, p, HD_RA) : hd_sys(SYS_sched_getparam, n.process, p, 0));
}

// ---- sched_getattr and sched_setattr, which glibc 2.36 does not have
//
// The struct of the first kernels that had it; the fields of later ones, and those of deadline scheduling, are 0.
struct attr { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; };
enum { RESET_ON_FORK = 1 };

long hd_sched_getattr(int pid, void *to, uint32_t size, uint32_t flags, uint64_t pc) {
  struct hd_named n;
  if (pid < 0 || !to || flags || size < sizeof(struct attr) || size > 4096) return -EINVAL;
  if (!hd_named(pid, "sched_getattr", pc, &n)) return -ESRCH;
  if (!n.thread) return hd_sys6(SYS_sched_getattr, n.process, (long)to, size, 0, 0, 0);
  int policy = policy_of(n.thread, pc);
  struct attr a = { .size = sizeof a, .policy = (uint32_t)(policy & ~SCHED_RESET_ON_FORK), .flags = policy & SCHED_RESET_ON_FORK ? RESET_ON_FORK : 0 };
  if (realtime(policy)) a.priority = (uint32_t)n.thread->attributes.priority;
  else a.nice = nice_of(n.thread, pc);
  hd_refresh(to, sizeof a, pc);
  hd_to_program(to, &a, sizeof a);
  return 0;
}

long hd_sched_setattr(int pid, void *from, uint32_t flags, uint64_t pc) {
  struct hd_named n;
  struct attr a;
  if (pid < 0 || !from || flags) return -EINVAL;
  hd_fetch(&a, from, sizeof a, pc);
  if (a.size && a.size < sizeof a) return -E2BIG;
  if (a.flags & ~(uint64_t)RESET_ON_FORK || a.policy == SCHED_DEADLINE) hd_unsupported("sched_setattr with another flag than SCHED_FLAG_RESET_ON_FORK, or with SCHED_DEADLINE");
  if (!hd_named(pid, "sched_setattr", pc, &n)) return -ESRCH;
  if (!n.thread) return hd_sys6(SYS_sched_setattr, n.process, (long)from, 0, 0, 0, 0);
  int policy = (int)a.policy | (a.flags & RESET_ON_FORK ? SCHED_RESET_ON_FORK : 0);
  int nice = a.nice < -20 ? -20 : a.nice > 19 ? 19 : a.nice; // as the kernel
  int err = set_sched(n.thread, policy, (int)a.priority, pc);
  if (err || realtime(policy)) return -err;
  return set_nice(n.thread, nice, pc) ? -EPERM : 0;
}

// Newer headers of glibc declare them, with a struct of theirs.
HD_EXPORT int hd_libc_sched_getattr(int, void *, unsigned, unsigned) __asm__("sched_getattr");
HD_EXPORT int hd_libc_sched_setattr(int, void *, unsigned) __asm__("sched_setattr");
int hd_libc_sched_getattr(int pid, void *to, unsigned size, unsigned flags) {
  if (!hd_active()) return (int)hd_errno_result(hd_sys4(SYS_sched_getattr, hd_identity_kernels(pid), to, size, flags));
  return (int)hd_errno_result(hd_sched_getattr(pid, to, size, flags, HD_RA));
}
int hd_libc_sched_setattr(int pid, void *from, unsigned flags) {
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_sched_setattr, hd_identity_kernels(pid), from, flags));
  return (int)hd_errno_result(hd_sched_setattr(pid, from, flags, HD_RA));
}

static HD_PROGACCESS int interval(int policy, struct timespec *t) {
  enum { RR = 100000000, FAIR = 4000000 }; // ns; Linux's defaults
  policy &= ~SCHED_RESET_ON_FORK;
  t->tv_sec = 0;
  t->tv_nsec = policy == SCHED_RR ? RR : policy == SCHED_FIFO ? 0 : FAIR;
  return 0;
}
HD_INTERPOSE(int, sched_rr_get_interval, (pid_t pid, struct timespec *t), ((pid_t)hd_identity_kernels(pid), t)) {
  struct hd_named n;
  if (pid < 0) return result(-EINVAL);
  if (!hd_named(pid, "sched_rr_get_interval", HD_RA, &n)) return result(-ESRCH);
  return result(n.thread ? interval(policy_of(n.thread, HD_RA), t) : hd_sys(SYS_sched_rr_get_interval, n.process, t, 0));
}

// ---- nice values of several
// Finds what which and who name: n, or all threads if *all. Returns 0 or -errno.
static long target(int which, int who, const char *what, uint64_t pc, struct hd_named *n, bool *all) {
  hd.cur->pend.pc = pc;
  *all = which == PRIO_PGRP;
  switch (which) {
  case PRIO_PROCESS: return hd_named(who, what, pc, n) ? 0 : -ESRCH;
  case PRIO_PGRP:
    if (who != 0 && who != hd_pid()) hd_unsupported(hd_text("%s of another process group", what));
    if (hd_kernel_child(0)) hd_unsupported(hd_text("%s of the program's process group, which has child processes", what));
    return 0;
  case PRIO_USER: hd_unsupported(hd_text("%s of all processes of a user", what));
  }
  return -EINVAL;
}

static struct hd_thread *next_thread(uint32_t *i) {
  while (*i < hd.nthreads) {
    struct hd_thread *u = &hd_threads[(*i)++];
    if (!u->ended && !u->fires) return u;
  }
  return NULL;
}

long hd_priority_get(int which, int who, uint64_t pc) {
  struct hd_named n;
  bool all;
  long err = target(which, who, "getpriority", pc, &n, &all);
  if (err) return err;
  if (!all) return n.thread ? 20 - nice_of(n.thread, pc) : hd_sys(SYS_getpriority, PRIO_PROCESS, n.process, 0);
  int least = 19;
  for (uint32_t i = 0; (n.thread = next_thread(&i));)
    if (nice_of(n.thread, pc) < least) least = n.thread->attributes.nice;
  return 20 - least;
}

long hd_priority_set(int which, int who, int nice, uint64_t pc) {
  struct hd_named n;
  bool all;
  long err = target(which, who, "setpriority", pc, &n, &all);
  if (err) return err;
  nice = nice > 19 ? 19 : nice < -20 ? -20 : nice;
  if (!all) return n.thread ? set_nice(n.thread, nice, pc) : hd_sys(SYS_setpriority, PRIO_PROCESS, n.process, nice);
  for (uint32_t i = 0; (n.thread = next_thread(&i));) {
    long r = set_nice(n.thread, nice, pc);
    if (r) err = r;
  }
  return err;
}

// What who names to the kernel.
static id_t outside(int which, id_t who) {
  return which == PRIO_PROCESS ? (id_t)hd_identity_kernels((int)who) : which == PRIO_PGRP ? (id_t)hd_identity_kernels_group((int)who) : who;
}

HD_INTERPOSE(int, getpriority, (__priority_which_t which, id_t who), (which, outside(which, who))) {
  long r = hd_priority_get((int)which, (int)who, HD_RA);
  return r < 0 ? result(r) : 20 - (int)r;
}
HD_INTERPOSE(int, setpriority, (__priority_which_t which, id_t who, int nice), (which, outside(which, who), nice)) {
  return result(hd_priority_set((int)which, (int)who, nice, HD_RA));
}
// A sum out of range is limited as setpriority does.
HD_INTERPOSE(int, nice, (int more), (more)) {
  int was = nice_of(hd.cur, HD_RA);
  more = more > 40 ? 40 : more < -40 ? -40 : more;
  long r = hd_priority_set(PRIO_PROCESS, 0, was + more, HD_RA);
  if (r < 0) return result(r == -EACCES ? -EPERM : r);
  return hd.cur->attributes.nice;
}

// ---- processes
void hd_priority_apply(const struct hd_thread *t) {
  struct sched_param p = { 0 }, want = { .sched_priority = t->attributes.priority };
  hd_sys(SYS_sched_getparam, 0, &p, 0);
  bool done = true;
  if (hd_sys(SYS_sched_getscheduler, 0, 0, 0) != t->attributes.policy || p.sched_priority != want.sched_priority)
    done = hd_sys(SYS_sched_setscheduler, 0, t->attributes.policy, &want) == 0;
  if (kernels_nice() != t->attributes.nice) done &= hd_sys(SYS_setpriority, PRIO_PROCESS, 0, t->attributes.nice) == 0;
  if (!done) hd_unsupported("a child process, started by a thread whose priority heddle may not give it");
  if (t->attributes.slack) hd_sys(SYS_prctl, PR_SET_TIMERSLACK, t->attributes.slack, 0);
  if (hd_sys6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1 && !t->attributes.no_new_privs)
    hd_unsupported("a child process, started by a thread without no_new_privs after another one has set it");
}

const struct hd_registration hd_priorities = { .save = save, .main = begin };
