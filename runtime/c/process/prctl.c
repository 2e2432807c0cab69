// prctl.c: what prctl changes of the process and of the calling thread. Restoring memory does not undo it.
//
// What belongs to a thread and has no effect on an execution is stored per thread (threads/attributes.c,
// threads/priority.c). What belongs to the process is set in the kernel, and the execution needs a process of
// its own. What belongs to a kernel thread, of which all fibers have one, is set only while no other thread
// exists.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"
#include "threads/threads.h"
#include "process/process.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

enum how { QUERY, PROCESS, KERNEL_THREAD };
static const struct option { int number; enum how how; const char *name; } options[] = {
  { PR_SET_DUMPABLE, PROCESS, "prctl(PR_SET_DUMPABLE)" },
  { PR_SET_CHILD_SUBREAPER, PROCESS, "prctl(PR_SET_CHILD_SUBREAPER)" },
  { PR_SET_THP_DISABLE, PROCESS, "prctl(PR_SET_THP_DISABLE)" },
  { PR_SET_MEMORY_MERGE, PROCESS, "prctl(PR_SET_MEMORY_MERGE)" },
  { PR_SET_PTRACER, PROCESS, "prctl(PR_SET_PTRACER)" },
  { PR_SET_VMA, PROCESS, "prctl(PR_SET_VMA)" },
  { PR_SET_NO_NEW_PRIVS, PROCESS, "prctl(PR_SET_NO_NEW_PRIVS)" }, // of a thread, but only children show it
  { PR_SET_KEEPCAPS, KERNEL_THREAD, "prctl(PR_SET_KEEPCAPS)" },
  { PR_SET_SECUREBITS, KERNEL_THREAD, "prctl(PR_SET_SECUREBITS)" },
  { PR_CAPBSET_DROP, KERNEL_THREAD, "prctl(PR_CAPBSET_DROP)" },
  { PR_CAP_AMBIENT, KERNEL_THREAD, "prctl(PR_CAP_AMBIENT)" },
  { PR_MCE_KILL, KERNEL_THREAD, "prctl(PR_MCE_KILL)" },
  { PR_SET_IO_FLUSHER, KERNEL_THREAD, "prctl(PR_SET_IO_FLUSHER)" },
  { PR_SET_SPECULATION_CTRL, KERNEL_THREAD, "prctl(PR_SET_SPECULATION_CTRL)" },
  { .number = PR_GET_DUMPABLE }, { .number = PR_GET_CHILD_SUBREAPER }, { .number = PR_GET_THP_DISABLE }, { .number = PR_GET_MEMORY_MERGE },
  { .number = PR_GET_KEEPCAPS }, { .number = PR_GET_SECUREBITS }, { .number = PR_CAPBSET_READ }, { .number = PR_MCE_KILL_GET },
  { .number = PR_GET_IO_FLUSHER }, { .number = PR_GET_SPECULATION_CTRL }, { .number = PR_GET_SECCOMP }, { .number = PR_GET_MDWE },
  { .number = PR_GET_TIMING }, { .number = PR_GET_AUXV },
};

static const struct option *option_of(int number) {
  for (uint32_t i = 0; i < sizeof options / sizeof *options; i++)
    if (options[i].number == number) return &options[i];
  hd_unsupported(hd_text("prctl with the option %d", number));
}

static long kernels(int number, const unsigned long a[4], const char *name) {
  const struct option *o = option_of(number);
  struct hd_named n;
  unsigned long first = a[0];
  if (o->how != QUERY) hd_require_isolation(HD_ISOLATION_FORK, o->name);
  if (o->how == PROCESS) hd_unordered(HD_SHARED_PROCESS);
  if (o->how == KERNEL_THREAD && !hd_threads_real && !hd_only_thread())
    hd_unsupported(hd_text("%s beside other threads, which keep their own (--threads can carry it)", name));
  if (number == PR_SET_PTRACER && first != 0 && first != PR_SET_PTRACER_ANY) {
    if (!hd_named((int)first, name, hd.cur->pend.pc, &n)) return -EINVAL;
    first = (unsigned long)(n.thread ? hd_sys(SYS_getpid, 0, 0, 0) : n.process);
  }
  return hd_sys6(SYS_prctl, number, (long)first, (long)a[1], (long)a[2], (long)a[3], 0);
}

static long control(int number, const unsigned long a[4]) {
  enum { MOST_SIGNAL = 64 };
  struct hd_thread *t = hd.cur;
  char name[16];
  long r;
  switch (number) {
  case PR_SET_NAME:
    for (uint32_t i = 0; i < sizeof name; i++) {
      hd_from_program(&name[i], (const char *)a[0] + i, 1);
      if (!name[i]) break;
    }
    name[sizeof name - 1] = 0; // longer names are cut off
    return -hd_name_set(t, name, t->pend.pc);
  case PR_GET_NAME: return -hd_name_get(t, (char *)a[0], sizeof name, t->pend.pc);
  case PR_SET_TIMERSLACK:
    t->attributes.slack = (long)a[0] <= 0 ? t->attributes.default_slack : a[0];
    return 0;
  case PR_GET_TIMERSLACK: return (long)t->attributes.slack;
  case PR_SET_PDEATHSIG: // the parent outlives the execution
    if (a[0] > MOST_SIGNAL) return -EINVAL;
    t->attributes.death_signal = (int)a[0];
    return 0;
  case PR_GET_PDEATHSIG: hd_to_program((void *)a[0], &t->attributes.death_signal, sizeof(int)); return 0;
  case PR_GET_NO_NEW_PRIVS: return a[0] || a[1] || a[2] || a[3] ? -EINVAL : t->attributes.no_new_privs;
  case PR_SET_NO_NEW_PRIVS:
    r = kernels(number, a, "prctl(PR_SET_NO_NEW_PRIVS)");
    if (r == 0) t->attributes.no_new_privs = true;
    return r;
  case PR_SET_CHILD_SUBREAPER:
    r = kernels(number, a, "prctl(PR_SET_CHILD_SUBREAPER)");
    if (r == 0) hd_children_subreaper(a[0]);
    return r;
  // heddle sets it for itself, so that it can give virtual time (signals/timestamp.c).
  case PR_GET_TSC: hd_to_program((void *)a[0], &(int){ PR_TSC_ENABLE }, sizeof(int)); return 0;
  case PR_SET_TSC:
    if (a[0] == PR_TSC_ENABLE) return 0;
    if (a[0] != PR_TSC_SIGSEGV) return -EINVAL;
    hd_unsupported("prctl(PR_SET_TSC, PR_TSC_SIGSEGV)");
  }
  return kernels(number, a, option_of(number)->name);
}

int hd_prctl(int number, const unsigned long a[4], uint64_t pc) {
  hd.cur->pend.pc = pc;
  return (int)hd_errno_result(control(number, a));
}

HD_EXPORT int prctl(int number, ...) {
  unsigned long a[4];
  va_list ap;
  va_start(ap, number);
  for (int i = 0; i < 4; i++) a[i] = va_arg(ap, unsigned long);
  va_end(ap);
  if (!hd_active()) return (int)hd_errno_result(hd_sys6(SYS_prctl, number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], 0));
  return hd_prctl(number, a, HD_RA);
}
