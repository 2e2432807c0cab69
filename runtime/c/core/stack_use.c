// stack_use.c: use after return, by another thread than the one whose stack it is.
#include "core/event.h"
#include "core/outcome.h"
#include "core/reached.h"
#include "core/rings.h"
#include "core/side_stack.h"
#include "core/stack_use.h"

enum { HOOK = 4096 }; // the frames of an interposed function take less

// The stack pointer with which t called the function of the runtime that it is in.
static uintptr_t called_at(const struct hd_thread *t) {
  uintptr_t sp = hd_program_sp();
  if (!sp) return 0;
  if (hd_call.pc == t->pend.pc && hd_call.sp - sp < HOOK) return hd_call.sp;
  return sp + sizeof(void *); // sp points to the return address of the hook, or lies in its frame
}

// The stack on which the runtime started t. One that the program has provided may have other uses below.
static bool own_stack(const struct hd_thread *t, uintptr_t *lo, uintptr_t *hi) {
  if (t->fires || t->stack.hi) return false;
  *lo = hd_stack_lo(t);
  *hi = t->host ? t->host->hi : hd_main_sp;
  return *lo != 0;
}

void hd_stack_leave(struct hd_thread *from, struct hd_thread *to) {
  uintptr_t lo, hi;
  from->stack.sp = from->ended ? 0 : called_at(from);
  // On another stack, a coroutine's or an alternative one for signals, it says nothing of this one's frames.
  if (!own_stack(from, &lo, &hi) || from->stack.sp - lo >= hi - lo || from->stack.sp - from->signals.alt_lo < from->signals.alt_size) from->stack.sp = 0;
  hd.own_lo = to->host ? to->host->lo : 0;
  hd.own_size = to->host ? to->host->hi - to->host->lo : 0;
  const struct hd_thread *main = &hd_threads[0];
  bool known = to != main && main->stack.sp && own_stack(main, &lo, &hi);
  hd.unused_lo = known ? lo : 0;
  hd.unused_size = known ? main->stack.sp - lo : 0;
}

// Returns the thread on whose stack address lies.
static struct hd_thread *whose(uint64_t address) {
  uintptr_t lo, hi;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (u != hd.cur && own_stack(u, &lo, &hi) && address - lo < hi - lo) return u;
  }
  return NULL;
}

// A program that lets threads run on stacks of its own may put them anywhere.
static bool moves_stacks(void) {
  uintptr_t lo, hi, sp = hd_program_sp();
  return !sp || !own_stack(hd.cur, &lo, &hi) || sp - lo >= hi - lo;
}

const char *hd_stack_used(uint64_t address, const char *how) {
  struct hd_thread *u = whose(address);
  if (!u || u->ended || u->stack.moved || hd.cur->stack.moved || !u->stack.sp || address >= u->stack.sp || moves_stacks()) return NULL;
  return hd_text("use after return: %s a variable of a function of T%u that has returned", how, u->number);
}

void hd_stack_report(uint64_t address, uint64_t pc, const char *what) {
  if (hd.record) hd_local_left(whose(address), address, hd_events_sent());
  hd_misuse(pc, address, what);
}

void hd_stack_operation(struct hd_thread *t) {
  // Other operations have no object in memory, or the kernel only compares its address, as FUTEX_WAKE does.
  uint16_t op = t->pend.op;
  bool object = (op >= HD_OP_MUTEX_INIT && op <= HD_OP_SPIN_UNLOCK) || (op >= HD_OP_ATOMIC_LOAD && op <= HD_OP_ATOMIC_CAS) ||
                op == HD_OP_RWLOCK_TIMEDRDLOCK || op == HD_OP_RWLOCK_TIMEDWRLOCK;
  const char *what = object ? hd_stack_used(t->pend.obj, "use of") : NULL;
  if (what) hd_stack_report(t->pend.obj, t->pend.pc, what);
}
