// stack_limit.c: how much stack a thread may use, and the report that it has used more.
//
// Code with hooks has larger frames than the same code without them, and the hooks need stack, too. A program whose
// stacks suffice natively must not run out of them here, so a thread may use twice what it has natively. Function
// entries compare the stack pointer with that limit, so an overflow is found in the program's code, at the same call
// in every execution of a plan. The stack goes on below the limit for the hooks' own frames, and for code without
// hooks, which runs on to the guard (signals/crash.c).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include "core/event.h"
#include "core/fiber.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"

enum { HOOKS = 256 << 10, PAGE = 4096 };
static const uint64_t MOST = 1ull << 30;

bool hd_stack_handled;
uintptr_t hd_main_low;
uint64_t hd_main_stack;

uint64_t hd_default_stack(void) {
  static size_t n;
  pthread_attr_t attr;
  if (n) return n;
  n = 8 << 20;
  if (pthread_attr_init(&attr)) return n;
  pthread_attr_getstacksize(&attr, &n);
  pthread_attr_destroy(&attr);
  return n;
}

// Even the smallest stack has room for a call of libc, whose frames do not depend on its size.
static uint64_t allowed(uint64_t native) { return 2 * (native < MOST ? native : MOST) + HOOKS; }

uint64_t hd_stack_mapped(uint64_t native) { return (allowed(native) + HOOKS + PAGE - 1) & ~(uint64_t)(PAGE - 1); }

uintptr_t hd_stack_lo(const struct hd_thread *t) { return t->fires ? 0 : t->stack.hi ? t->stack.lo : t->host ? t->host->lo : hd_main_low; }

void hd_stack_limit(struct hd_thread *t, uint64_t native) {
  uintptr_t lo = hd_stack_lo(t), hi = hd_stack_hi(t);
  t->stack.size = native;
  t->stack.limit = hi - lo >= allowed(native) + HOOKS ? hi - allowed(native) : lo ? lo + HOOKS : 0;
}

void hd_stack_overflow(uint64_t pc) {
  hd_side_top = 0;
  struct hd_thread *t = hd.cur;
  bool small = t->stack.size < 1 << 20;
  uint32_t depth = t->calls.depth > 1 ? t->calls.depth : hd_stack_depth(); // code without hooks keeps no depth
  const char *what = hd_text("stack overflow: T%u has used its %lu %s of stack, %u calls deep", t->number, t->stack.size >> (small ? 10 : 20),
                             small ? "KiB" : "MiB", depth);
  hd_event_forget();
  hd_commit_failed();
  hd_signal_event(SIGSEGV, pc, 0);
  hd_end(HD_OUT_SIGNAL, SIGSEGV, pc, 0, what);
}
