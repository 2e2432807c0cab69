// attributes.c: a thread's name and processors, which have no effect on scheduling. They are stored
// per thread here, because the kernel's are the carrier's and would outlive the execution.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include "core/carrier.h"
#include "core/fiber.h"
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"

void hd_thread_inherits(struct hd_thread *u, const struct hd_thread *parent) {
  hd_copy(u->attributes.label, parent->attributes.label, sizeof u->attributes.label);
  u->attributes.labelled = false;
  hd_copy(u->attributes.cpus, parent->attributes.cpus, sizeof u->attributes.cpus);
  hd_priority_inherits(u, parent);
}

void hd_thread_attributes(struct hd_thread *u, const void *attr) {
  int how;
  struct sched_param p;
  if (!attr || pthread_attr_getinheritsched(attr, &how) != 0 || how != PTHREAD_EXPLICIT_SCHED) return;
  pthread_attr_getschedpolicy(attr, &u->attributes.policy);
  pthread_attr_getschedparam(attr, &p);
  u->attributes.priority = p.sched_priority;
}

struct hd_thread *hd_thread_valid(uintptr_t id, uint64_t pc) {
  hd.cur->pend.pc = pc; // where a bad pointer is reported
  struct hd_thread *u = hd_thread_of(id);
  if (!u || u->joined) hd_misuse(pc, id, "use of an identifier that names no thread");
  return u;
}

// Setting an attribute of a thread, or asking for it, is not a scheduling point.
void hd_attribute_used(const struct hd_thread *u, enum hd_attribute what, enum hd_share how, uint64_t pc) {
  hd_shares(HD_SHARED_THREAD, hd_mix(u->name, what), how, pc);
}

// ---- names. The last byte distinguishes an empty name from an unset one.
static char name_at_main[16];
static bool renamed; // the kernel's name is not name_at_main

HD_PROGACCESS int hd_name_set(struct hd_thread *u, const char *name, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_NAME, HD_CHANGES, pc);
  uint64_t n = hd_strlen(name);
  if (n >= sizeof u->attributes.label) return ERANGE;
  hd_fill(u->attributes.label, 0, sizeof u->attributes.label);
  hd_copy(u->attributes.label, name, n);
  u->attributes.label[sizeof u->attributes.label - 1] = n == 0;
  u->attributes.labelled = n > 0;
  if (u->number == 0 && !hd_threads_real) { // the carrier's name is the process's, in /proc
    hd_sys(SYS_prctl, PR_SET_NAME, u->attributes.label, 0);
    renamed = true;
  }
  return 0;
}

static const char *name_of(const struct hd_thread *u) {
  return u->attributes.label[0] || u->attributes.label[sizeof u->attributes.label - 1] ? u->attributes.label : name_at_main;
}

HD_PROGACCESS int hd_name_get(const struct hd_thread *u, char *buf, size_t size, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_NAME, HD_LOOKS_AT, pc);
  if (size < sizeof u->attributes.label) return ERANGE;
  hd_fill(buf, 0, sizeof u->attributes.label);
  hd_copy(buf, name_of(u), sizeof u->attributes.label - 1);
  return 0;
}

void hd_name_apply(const struct hd_thread *t) { hd_sys(SYS_prctl, PR_SET_NAME, name_of(t), 0); }

static void save(void) { hd_sys(SYS_prctl, PR_GET_NAME, name_at_main, 0); }
static void report(struct hd_result *r) {
  (void)r;
  if (renamed) hd_sys(SYS_prctl, PR_SET_NAME, name_at_main, 0);
  renamed = false;
}
const struct hd_registration hd_names = { .save = save, .report = report };

HD_INTERPOSE(int, pthread_setname_np, (pthread_t id, const char *name), (id, name)) { return hd_name_set(hd_thread_valid(id, HD_RA), name, HD_RA); }
HD_INTERPOSE(int, pthread_getname_np, (pthread_t id, char *buf, size_t size), (id, buf, size)) {
  return hd_name_get(hd_thread_valid(id, HD_RA), buf, size, HD_RA);
}

// ---- processors
static HD_PROGACCESS int set_cpus(struct hd_thread *u, size_t size, const void *set, uint64_t pc) {
  hd_attribute_used(u, HD_ATTRIBUTE_PROCESSORS, HD_CHANGES, pc);
  if (size > sizeof u->attributes.cpus) size = sizeof u->attributes.cpus;
  uint64_t asked[16] = { 0 }, any = 0;
  hd_copy(asked, set, size);
  for (int i = 0; i < 16; i++) any |= asked[i] &= i ? 0 : (1u << HD_CPUS) - 1; // the machine has no others
  if (!any) return EINVAL;
  hd_copy(u->attributes.cpus, asked, sizeof asked);
  return 0;
}

static HD_PROGACCESS int get_cpus(const struct hd_thread *u, size_t size, void *set, uint64_t pc) {
  if (u) hd_attribute_used(u, HD_ATTRIBUTE_PROCESSORS, HD_LOOKS_AT, pc);
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
  return set_cpus(hd_thread_valid(id, HD_RA), size, set, HD_RA);
}
// Libraries count the processors in their constructors, to decide how many threads they start.
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, pthread_getaffinity_np, (pthread_t id, size_t size, cpu_set_t *set), (id, size, set)) {
  return get_cpus(hd_active() ? hd_thread_valid(id, HD_RA) : NULL, size, set, HD_RA);
}

static int failed(int err) {
  if (!err) return 0;
  errno = err;
  return -1;
}

HD_INTERPOSE(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), ((pid_t)hd_identity_kernels(pid), size, set)) {
  struct hd_named n;
  if (!hd_named(pid, "sched_setaffinity", HD_RA, &n)) return failed(ESRCH);
  return n.thread ? failed(set_cpus(n.thread, size, set, HD_RA)) : (int)hd_errno_result(hd_sys(SYS_sched_setaffinity, n.process, size, set));
}
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), ((pid_t)hd_identity_kernels(pid), size, set)) {
  struct hd_named n;
  if (!hd_active()) return failed(get_cpus(NULL, size, set, HD_RA));
  if (!hd_named(pid, "sched_getaffinity", HD_RA, &n)) return failed(ESRCH);
  return n.thread ? failed(get_cpus(n.thread, size, set, HD_RA)) : REAL(sched_getaffinity)((pid_t)n.process, size, set);
}

// There is one virtual clock for all.
HD_INTERPOSE(int, pthread_getcpuclockid, (pthread_t id, clockid_t *clock), (id, clock)) {
  hd_thread_valid(id, HD_RA);
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
  struct hd_thread *u = hd_thread_valid(id, HD_RA);
  int err = u->index == 0 && hd_main_stack ? main_attributes(attr) : REAL(pthread_getattr_np)(id, attr); // of its host, whose stack it has
  if (err) return err;
  hd_attribute_used(u, HD_ATTRIBUTE_PRIORITY, HD_LOOKS_AT, HD_RA);
  hd_attribute_used(u, HD_ATTRIBUTE_DETACHED, HD_LOOKS_AT, HD_RA);
  struct sched_param p = { .sched_priority = u->attributes.priority };
  pthread_attr_setdetachstate(attr, u->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  if (u->index) pthread_attr_setstack(attr, (void *)(hd_stack_hi(u) - u->stack.size), u->stack.size);
  pthread_attr_setschedpolicy(attr, u->attributes.policy);
  pthread_attr_setschedparam(attr, &p);
  return 0;
}
