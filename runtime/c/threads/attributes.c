// attributes.c: a thread's name, processors and priority, which have no effect on scheduling. They
// are stored per thread here, because the kernel's are the carrier's and would outlive the
// execution.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include "core/carrier.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"

void hd_thread_attributes(struct hd_thread *u, const struct hd_thread *parent, const void *attr) {
  hd_copy(u->attributes.label, parent->attributes.label, sizeof u->attributes.label);
  hd_copy(u->attributes.cpus, parent->attributes.cpus, sizeof u->attributes.cpus);
  u->attributes.policy = parent->attributes.policy;
  u->attributes.priority = parent->attributes.priority;
  int how;
  struct sched_param p;
  if (!attr || pthread_attr_getinheritsched(attr, &how) != 0 || how != PTHREAD_EXPLICIT_SCHED) return;
  pthread_attr_getschedpolicy(attr, &u->attributes.policy);
  pthread_attr_getschedparam(attr, &p);
  u->attributes.priority = p.sched_priority;
}

static struct hd_thread *thread_of(pthread_t id, uint64_t pc) {
  hd.cur->pend.pc = pc; // where a bad pointer is reported
  struct hd_thread *u = hd_thread_of(id);
  if (!u || u->joined) hd_misuse(pc, id, "use of an identifier that names no thread");
  return u;
}

// ---- names. The last byte distinguishes an empty name from an unset one.
static HD_PROGACCESS int set_label(struct hd_thread *u, const char *name) {
  uint64_t n = hd_strlen(name);
  if (n >= sizeof u->attributes.label) return ERANGE;
  hd_fill(u->attributes.label, 0, sizeof u->attributes.label);
  hd_copy(u->attributes.label, name, n);
  u->attributes.label[sizeof u->attributes.label - 1] = n == 0;
  return 0;
}

static HD_PROGACCESS int get_label(const struct hd_thread *u, char *buf, size_t size) {
  if (size < sizeof u->attributes.label) return ERANGE;
  hd_fill(buf, 0, sizeof u->attributes.label);
  if (u->attributes.label[0] || u->attributes.label[sizeof u->attributes.label - 1]) hd_copy(buf, u->attributes.label, sizeof u->attributes.label - 1);
  else hd_sys(SYS_prctl, 16 /* PR_GET_NAME */, buf, 0); // the program's, as at the start
  return 0;
}

HD_INTERPOSE(int, pthread_setname_np, (pthread_t id, const char *name), (id, name)) { return set_label(thread_of(id, HD_RA), name); }
HD_INTERPOSE(int, pthread_getname_np, (pthread_t id, char *buf, size_t size), (id, buf, size)) {
  return get_label(thread_of(id, HD_RA), buf, size);
}

// ---- processors
static HD_PROGACCESS int set_cpus(struct hd_thread *u, size_t size, const void *set) {
  if (size > sizeof u->attributes.cpus) size = sizeof u->attributes.cpus;
  uint64_t asked[16] = { 0 }, any = 0;
  hd_copy(asked, set, size);
  for (int i = 0; i < 16; i++) any |= asked[i];
  if (!any) return EINVAL;
  hd_copy(u->attributes.cpus, asked, sizeof asked);
  return 0;
}

static HD_PROGACCESS int get_cpus(const struct hd_thread *u, size_t size, void *set) {
  uint64_t cpus[16] = { 0 }, any = 0;
  for (int i = 0; u && i < 16; i++) any |= u->attributes.cpus[i];
  if (any) hd_copy(cpus, u->attributes.cpus, sizeof cpus);
  else cpus[0] = (1u << HD_CPUS) - 1;
  for (uint64_t i = size; i < sizeof cpus; i++)
    if (((const char *)cpus)[i]) return EINVAL; // the CPU numbers do not fit
  hd_fill(set, 0, size);
  hd_copy(set, cpus, size < sizeof cpus ? size : sizeof cpus);
  return 0;
}

HD_INTERPOSE(int, pthread_setaffinity_np, (pthread_t id, size_t size, const cpu_set_t *set), (id, size, set)) {
  return set_cpus(thread_of(id, HD_RA), size, set);
}
// Libraries count the processors in their constructors, to decide how many threads they start.
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, pthread_getaffinity_np, (pthread_t id, size_t size, cpu_set_t *set), (id, size, set)) {
  return get_cpus(hd_active() ? thread_of(id, HD_RA) : NULL, size, set);
}

static int failed(int err) {
  if (!err) return 0;
  errno = err;
  return -1;
}

// By the identifiers that gettid gives; 0 is the caller's. NULL: no such thread.
static struct hd_thread *thread_by_number(pid_t tid, uint64_t pc) {
  hd.cur->pend.pc = pc; // where a bad pointer is reported
  if (tid == 0) return hd.cur;
  struct hd_thread *u = hd_thread_numbered((uint32_t)(tid - HD_TID_BASE));
  return u && !u->ended && !u->fires ? u : NULL;
}

HD_INTERPOSE(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set)) {
  struct hd_thread *u = thread_by_number(pid, HD_RA);
  return failed(u ? set_cpus(u, size, set) : ESRCH);
}
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set)) {
  if (!hd_active()) return failed(get_cpus(NULL, size, set));
  struct hd_thread *u = thread_by_number(pid, HD_RA);
  return failed(u ? get_cpus(u, size, set) : ESRCH);
}

// ---- priorities
static bool suits(int policy, int priority) {
  switch (policy) {
  case SCHED_OTHER: case SCHED_BATCH: case SCHED_IDLE: return priority == 0;
  case SCHED_FIFO: case SCHED_RR: return priority >= 1 && priority <= 99;
  }
  return false;
}

static int set_sched(struct hd_thread *u, int policy, int priority) {
  if (!suits(policy, priority)) return EINVAL;
  u->attributes.policy = policy;
  u->attributes.priority = priority;
  return 0;
}

static HD_PROGACCESS int priority_in(const struct sched_param *p) { return p->sched_priority; }

static HD_PROGACCESS int get_sched(const struct hd_thread *u, int *policy, struct sched_param *p) {
  *policy = u->attributes.policy;
  p->sched_priority = u->attributes.priority;
  return 0;
}

HD_INTERPOSE(int, pthread_setschedparam, (pthread_t id, int policy, const struct sched_param *p), (id, policy, p)) {
  struct hd_thread *u = thread_of(id, HD_RA);
  return set_sched(u, policy, priority_in(p));
}
HD_INTERPOSE(int, pthread_getschedparam, (pthread_t id, int *policy, struct sched_param *p), (id, policy, p)) {
  return get_sched(thread_of(id, HD_RA), policy, p);
}
HD_INTERPOSE(int, pthread_setschedprio, (pthread_t id, int priority), (id, priority)) {
  struct hd_thread *u = thread_of(id, HD_RA);
  return set_sched(u, u->attributes.policy, priority);
}

// There is one virtual clock for all.
HD_INTERPOSE(int, pthread_getcpuclockid, (pthread_t id, clockid_t *clock), (id, clock)) {
  thread_of(id, HD_RA);
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

// ---- all together
//
// For the main thread libc reads /proc/self/maps, whose lines it allocates, by the length of the
// program's path, and takes what arguments and padding use off the limit.
static int main_attributes(pthread_attr_t *attr) {
  extern void *__libc_stack_end;
  enum { PAGE = 4096 };
  int err = pthread_attr_init(attr);
  if (err) return err;
  uintptr_t hi = ((uintptr_t)__libc_stack_end & ~(uintptr_t)(PAGE - 1)) + PAGE;
  pthread_attr_setguardsize(attr, 0);
  return pthread_attr_setstack(attr, (void *)(hi - hd_main_stack), hd_main_stack);
}

HD_INTERPOSE(int, pthread_getattr_np, (pthread_t id, pthread_attr_t *attr), (id, attr)) {
  struct hd_thread *u = thread_of(id, HD_RA);
  int err = u->index == 0 && hd_main_stack ? main_attributes(attr) : REAL(pthread_getattr_np)(id, attr); // of its host, whose stack it has
  if (err) return err;
  struct sched_param p = { .sched_priority = u->attributes.priority };
  pthread_attr_setdetachstate(attr, u->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  if (u->stack.hi) pthread_attr_setstack(attr, (void *)u->stack.lo, u->stack.hi - u->stack.lo);
  pthread_attr_setschedpolicy(attr, u->attributes.policy);
  pthread_attr_setschedparam(attr, &p);
  return 0;
}
