// access.c: the calls that -fsanitize=thread makes gcc and clang insert before plain memory
// accesses, and the shadow call stack. A program under heddle spends most of its time here.
#include "core/alone.h"
#include "core/beside_assembly.h"
#include "core/cancellation.h"
#include "core/computation.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/injection.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/reached.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/stack_use.h"
#include "core/stacks.h"
#include "memory/access.h"
#include "memory/heap.h"
#include "memory/order.h"
#include "memory/shadow.h"
#include "memory/shared_accesses.h"

enum { FILTER = 1 << 12 };

struct hd_exempt hd_exempt[HD_EXEMPT];
uint32_t hd_nexempt;
struct hd_exempt hd_callbacks;
void (*hd_callback)(void), (*hd_callback_return)(void);
bool hd_callback_returns;
void hd_access_exempt(uint64_t lo, uint64_t size) {
  if (hd_nexempt < HD_EXEMPT) hd_exempt[hd_nexempt++] = (struct hd_exempt){ lo, size };
}

// Accesses already reported since the last scheduling point. An entry identifies the access and the
// time between two points of a thread; see profile.
static struct { uint64_t pc_op, addr_time; } *filter;
static void forget_reported(void) { hd_fill(filter, 0, sizeof *filter * FILTER); }

static HD_PROGACCESS uint64_t load(const void *p, uint32_t size) {
  switch (size) {
  case 1: return *(volatile const uint8_t *)p;
  case 2: return *(volatile const uint16_t *)p;
  case 4: return *(volatile const uint32_t *)p;
  default: {
    uint64_t v;
    hd_copy(&v, p, 8); // may be unaligned
    return v;
  }
  }
}

// Called after a quiet stretch: the thread computes, or waits for a write by another thread or by
// a handler (core/computation.c).
static void long_stretch(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  if (op == HD_OP_READ) {
    uint64_t keep = t->pend.pc;
    t->pend.pc = pc; // where a fault counts
    uint64_t v = load((void *)addr, (uint32_t)size);
    t->pend.pc = keep;
    hd_quiet_read(t, pc, addr, v);
  } else {
    hd_quiet_write(t, pc);
  }
}

// Counts an event that is not a scheduling point, and reports whether the plan wants it.
HD_COLD bool hd_profiles(void) {
  uint64_t nth = hd.nprofiled++;
  if (nth < hd.plan.skip_accesses) {
    // A skipped access must not suppress the same access later.
    if (filter && hd.nprofiled == hd.plan.skip_accesses) forget_reported();
  } else if (nth - hd.plan.skip_accesses < hd.plan.max_accesses) {
    return true;
  } else {
    hd.accesses = false; // the rest of the execution runs at full speed
    hd_accesses_changed();
    hd.result.notes |= HD_NOTE_ACCESSES;
  }
  return false;
}

// Reports whether this access was reported since the last scheduling point; remembers it if not.
static bool reported(const struct hd_thread *t, uint64_t addr, uint16_t op, uint64_t pc) {
  if (!filter) filter = hd_map(sizeof *filter * FILTER, "the access filter");
  // Most accesses of a thread to its own stack cannot race. They are reported all the same,
  // because only the analysis can tell whether the address escapes.
  static uint64_t epoch, thread;
  static uint16_t time;
  uint64_t now = (hd_shm->executions + 1) << 32 | hd.points;
  if (HD_UNLIKELY(epoch != now || thread != t->number)) {
    if (epoch >> 32 != now >> 32 || !++time) { // before a number has a second meaning
      forget_reported();
      time = 1;
    }
    epoch = now;
    thread = t->number;
  }
  uint32_t i = (uint32_t)(hd_mix(pc, addr) >> 40) % FILTER;
  uint64_t pc_op = pc << 16 | op, addr_time = addr << 16 | time; // addresses have 47 bits
  if (filter[i].pc_op == pc_op && filter[i].addr_time == addr_time) return true;
  filter[i].pc_op = pc_op;
  filter[i].addr_time = addr_time;
  return false;
}

// Injects the plan's fault into an access whose event comes next, if it is the one that the plan means.
static HD_COLD void fault(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op) {
  if (hd_inject_open) hd_inject_next(addr, size);
  if (op == HD_OP_READ || op == HD_OP_READ_RANGE) hd_inject_reads(addr, size, t->pend.pc);
  if (op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE) hd_inject_writes(addr, size, t->pend.pc);
  hd_inject_kills(t->pend.pc);
}

// What the pending operation's event says of the memory that it reads, if it reads and values are wanted.
static uint64_t shown(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op) {
  if (!hd.values || op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE || op == HD_OP_FREE) return 0;
  return hd_content(op, addr, (uint32_t)size, &t->pend.aux);
}

// The flag of an event of a range.
static uint16_t hooks(uint16_t op, uint64_t pc) {
  return (op == HD_OP_READ_RANGE || op == HD_OP_WRITE_RANGE) && hd_calls_hooks(pc) ? HD_EV_HOOKS : 0;
}

static __attribute__((noinline)) void profile(struct hd_thread *t, uint64_t addr, uint32_t size, uint16_t op, uint64_t pc) {
  if (HD_UNLIKELY(hd_cut_asked)) hd_cut_access(pc);
  if (HD_UNLIKELY(hd_left_out) || (!hd.values && reported(t, addr, op, pc))) {
    if (HD_UNLIKELY(hd.write_open)) hd_event_passes(t, size, op);
    return;
  }
  if (!hd_profiles()) {
    hd_event_passes(t, size, op);
    return;
  }
  struct hd_pending keep = t->pend;
  hd_pend(t, op, pc, addr);
  t->pend.size = size;
  if (HD_UNLIKELY(hd_injectable || hd_inject_open)) fault(t, addr, size, op);
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  hd_event(t, shown(t, addr, size, op), 0, HD_EV_NODECISION | hooks(op, pc));
  t->pend = keep;
  if (HD_UNLIKELY(hd_inject_open)) hd_inject_arm();
}

static HD_COLD void slow(uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (hd_is_point(pc)) {
    hd_pend(t, op, pc, addr);
    t->pend.size = (uint32_t)size;
    t->pend.flags = hooks(op, pc);
    hd_point(t);
    if (HD_UNLIKELY(hd_injectable || hd_inject_open) && hd.values) fault(t, addr, size, op);
    if (hd_freed(addr))
      hd_heap_bad_access(addr, (uint32_t)size, op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE, pc);
    if (op == HD_OP_READ) {
      uint64_t v = load((void *)addr, (uint32_t)size);
      shown(t, addr, size, op); // the second half of 16 bytes
      hd_commit(t, v, 0);
      hd_observe(t, pc, v);
    } else {
      if (op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE) hd_progress(t);
      hd_commit(t, shown(t, addr, size, op), 0);
    }
    if (HD_UNLIKELY(hd_inject_open)) hd_inject_arm();
    return;
  }
  if (*hd_quiet(pc) > HD_QUIET_EACH) long_stretch(t, addr, size, op, pc);
  if (!hd.unjoined && !hd.handlers && !hd.values) return;
  if (hd.watcher) hd_shadow_access(t, addr, size, op, pc); // first, because a race states how many events precede the access
  if (hd.accesses) profile(t, addr, (uint32_t)size, op, pc);
}

// Without a call; in doubt it is true, and bad decides.
static inline bool freed(uint64_t addr) {
  return HD_UNLIKELY((addr - hd_heap_base < hd_heap_used && hd_heap_shadow[(addr - hd_heap_base) >> 4] == HD_SH_FREED) || addr - hd_gone_lo < hd_gone_size);
}
// Freed memory, or another thread's stack: see freed and hd_stack_other. The heap and the hosts' stacks are neighbours, so
// that most accesses need only two comparisons.
#define NEIGHBOURS_SHIFT 41
_Static_assert(HD_HEAP_BASE >> NEIGHBOURS_SHIFT == HD_STACKS_BASE >> NEIGHBOURS_SHIFT, "the heap and the stacks have the same bits above these");
static inline bool special(uint64_t addr) {
  if (addr >> NEIGHBOURS_SHIFT == HD_HEAP_BASE >> NEIGHBOURS_SHIFT) {
    uint64_t off = addr - hd_heap_base;
    return HD_UNLIKELY(off < hd_heap_used ? hd_heap_shadow[off >> 4] == HD_SH_FREED : addr - hd.own_lo >= hd.own_size);
  }
  return HD_UNLIKELY(addr - hd.unused_lo < hd.unused_size);
}
static inline bool is_range(uint16_t op) { return op == HD_OP_READ_RANGE || op == HD_OP_WRITE_RANGE; }

static HD_COLD void bad(uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  if (hd_active() && hd_freed(addr)) hd_heap_bad_access(addr, (uint32_t)size, op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE, pc);
}

// Handles an access of a watched execution whose step is not remembered (shadow.h).
static void watched(uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  bool stretched = *hd_quiet(pc) > HD_QUIET_EACH;
  if (size == 1 && op <= HD_OP_WRITE && !stretched && hd_shadow_byte_hit(t, addr, op, pc)) {
    if (HD_UNLIKELY(hd.write_open) && hd.accesses) hd_event_passes(t, size, op);
    return;
  }
  if (freed(addr)) bad(addr, size, op, pc);
  bool point = hd_is_point(pc);
  if (point || stretched || hd.accesses) slow(addr, size, op, pc);
  else if (hd.unjoined || hd.handlers) hd_shadow_access(t, addr, size, op, pc);
}

// Handles an access that may be recorded or end a quiet stretch, in an execution that is not watched.
static void asked(uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  if (freed(addr)) bad(addr, size, op, pc);
  if (*hd_quiet(pc) > HD_QUIET_EACH || hd_is_point(pc)) slow(addr, size, op, pc);
  else if (hd.accesses && (hd.unjoined || hd.handlers || hd.values)) profile(hd.cur, addr, (uint32_t)size, op, pc);
}

// Handles an access that is more than counted.
HD_ON_SIDE_STACK(void, hd_access, (uint64_t addr, uint64_t size, uint16_t op, uint64_t pc)) {
  if (!hd_active()) {
    if (HD_UNLIKELY(hd_alone != NULL)) hd_alone_sees(op, (void *)addr, op == HD_OP_READ ? load((void *)addr, (uint32_t)size) : 0, pc);
    return;
  }
  if (HD_UNLIKELY(hd_stack_other(addr))) {
    bool write = op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE;
    const char *what = hd_stack_used(addr, write ? "write to" : "read of");
    if (HD_UNLIKELY(what != NULL)) {
      hd_gone_event(addr, (uint32_t)size, write, pc);
      hd_stack_report(addr, pc, what);
    }
  }
  uint32_t quiet = *hd_quiet(pc);
  if (HD_UNLIKELY(hd.listed)) hd_left_out = !hd_sharing_listed(pc);
  if (HD_LIKELY(quiet <= hd.unobserved)) {
    asked(addr, size, op, pc);
    return;
  }
  if (HD_UNLIKELY(hd_reached != NULL)) {
    hd_reached(pc);
    quiet = *hd_quiet(pc); // other threads may have run
  }
  if (HD_UNLIKELY(hd_sharing)) {
    hd_left_out = !hd_sharing_access(hd.cur, addr, size, op, pc);
    hd.cur->left_out += hd_left_out;
  }
  if (HD_UNLIKELY(hd.write_open) && !hd.accesses && !hd_is_point(pc)) hd_event_passes(hd.cur, size, op);
  if (!hd.watcher) {
    asked(addr, size, op, pc);
  } else if (!is_range(op) && quiet <= HD_QUIET_EACH && hd_shadow_hit(hd.cur, addr, size, op, pc)) {
    if (HD_UNLIKELY(hd.write_open) && hd.accesses) hd_event_passes(hd.cur, size, op);
  } else {
    watched(addr, size, op, pc);
  }
}

// A call on a path through this function is the last action on it, so hooks save no registers, and leave only
// their return address on the program's stack.
// Outside an execution, counting has no effect: hd_quiet_set(0) is called when one begins.
static inline __attribute__((always_inline)) void access(const void *p, uint64_t size, uint16_t op, uint64_t pc) {
  HD_REGISTERS_KEPT();
  uint64_t addr = (uint64_t)p;
  if (op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE) hd.wrote = HD_WROTE;
  uint32_t quiet = ++*hd_quiet(pc);
  if (HD_LIKELY(quiet <= hd.unobserved)) {
    if (HD_LIKELY(!special(addr) && !hd_maybe_point(pc))) {
      HD_LEAVE_REGISTERS(addr, size, op, pc);
      return;
    }
  } else if (hd.watcher && HD_LIKELY(hd_reached == NULL && !hd.write_open) && hd_active() && !is_range(op) && quiet <= HD_QUIET_EACH &&
             HD_LIKELY(!hd_stack_other(addr)) && (HD_LIKELY(!hd_sharing) || hd_sharing_idle(hd.cur, addr, size, op, pc)) && hd_shadow_hit(hd.cur, addr, size, op, pc)) {
    hd.cur->left_out += hd_sharing;
    HD_LEAVE_REGISTERS(addr, size, op, pc);
    return;
  }
  hd_access(addr, size, op, pc);
}

// An access that reads and then writes.
HD_ON_SIDE_STACK(void, hd_access_both, (uint64_t addr, uint64_t size, uint16_t op, uint64_t pc)) {
  (void)op;
  access((const void *)addr, size, HD_OP_READ, pc);
  access((const void *)addr, size, HD_OP_WRITE, pc);
}
static inline __attribute__((always_inline)) void access_both(const void *p, uint64_t size, uint64_t pc) {
  HD_REGISTERS_KEPT();
  uint64_t addr = (uint64_t)p;
  uint32_t quiet = *hd_quiet(pc) + 2;
  if (HD_LIKELY(quiet <= hd.unobserved && !special(addr) && !hd_maybe_point(pc))) {
    *hd_quiet(pc) = quiet;
    hd.wrote = HD_WROTE;
    HD_LEAVE_REGISTERS(addr, size, HD_OP_WRITE, pc);
  } else {
    hd_access_both(addr, size, HD_OP_WRITE, pc);
  }
}

// A volatile access in a program with inline assembly.
HD_ON_SIDE_STACK(void, hd_access_volatile, (uint64_t addr, uint64_t size, uint16_t op, uint64_t pc)) {
  hd_instruction_is(pc, HD_EV_VOLATILE);
  if (hd_active() && hd_volatile_atomic(addr, (uint32_t)size, op == HD_OP_WRITE, pc)) return;
  access((const void *)addr, size, op, pc);
  if (op == HD_OP_WRITE && hd_active() && hd.watcher) hd_order_volatile(hd.cur, addr, (uint32_t)size);
}
static inline __attribute__((always_inline)) void access_volatile(const void *p, uint64_t size, uint16_t op, uint64_t pc) {
  if (HD_UNLIKELY(hd_beside_assembly)) hd_access_volatile((uint64_t)p, size, op, pc);
  else access(p, size, op, pc);
}

// Hooks for memcpy and similar functions (memcpy.c) and for free (malloc.c).
void hd_access_range(const void *p, uint64_t size, bool write, uint64_t pc) {
  if (size && !hd_access_exempts(pc)) access(p, size, write ? HD_OP_WRITE_RANGE : HD_OP_READ_RANGE, pc);
}

void hd_access_word(const void *p, uint32_t size, bool write, uint64_t pc) { access(p, size, write ? HD_OP_WRITE : HD_OP_READ, pc); }

#define ACCESSES(size) \
  HD_COPIES HD_EXPORT void __tsan_read##size(void *p) { access(p, size, HD_OP_READ, HD_RA); } \
  HD_EXPORT void __tsan_write##size(void *p) { access(p, size, HD_OP_WRITE, HD_RA); } \
  HD_COPIES HD_EXPORT void __tsan_unaligned_read##size(void *p) { access(p, size, HD_OP_READ, HD_RA); } \
  HD_EXPORT void __tsan_unaligned_write##size(void *p) { access(p, size, HD_OP_WRITE, HD_RA); } \
  HD_COPIES HD_EXPORT void __tsan_volatile_read##size(void *p) { access_volatile(p, size, HD_OP_READ, HD_RA); } \
  HD_EXPORT void __tsan_volatile_write##size(void *p) { access_volatile(p, size, HD_OP_WRITE, HD_RA); } \
  HD_COPIES HD_EXPORT void __tsan_unaligned_volatile_read##size(void *p) { access_volatile(p, size, HD_OP_READ, HD_RA); } \
  HD_EXPORT void __tsan_unaligned_volatile_write##size(void *p) { access_volatile(p, size, HD_OP_WRITE, HD_RA); } \
  HD_COPIES HD_EXPORT void __tsan_read##size##_pc(void *p, void *pc) { access(p, size, HD_OP_READ, (uint64_t)pc); } \
  HD_EXPORT void __tsan_write##size##_pc(void *p, void *pc) { access(p, size, HD_OP_WRITE, (uint64_t)pc); } \
  HD_EXPORT void __tsan_read_write##size(void *p) { access_both(p, size, HD_RA); } \
  HD_EXPORT void __tsan_unaligned_read_write##size(void *p) { access_both(p, size, HD_RA); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HD_COPIES HD_EXPORT void __tsan_read_range(void *p, uint64_t n) { hd_access_range(p, n, false, HD_RA); }
HD_EXPORT void __tsan_write_range(void *p, uint64_t n) { hd_access_range(p, n, true, HD_RA); }
HD_COPIES HD_EXPORT void __tsan_read_range_pc(void *p, uint64_t n, void *pc) { hd_access_range(p, n, false, (uint64_t)pc); }
HD_EXPORT void __tsan_write_range_pc(void *p, uint64_t n, void *pc) { hd_access_range(p, n, true, (uint64_t)pc); }

// Pointers to virtual tables. Storing the value already present is not a write.
HD_EXPORT void __tsan_vptr_read(void **p) { access(p, 8, HD_OP_READ, HD_RA); }
HD_EXPORT void __tsan_vptr_update(void **p, void *value) {
  if (!hd_active()) return;
  hd.cur->pend.pc = HD_RA; // the address may be bad
  if (load(p, 8) != (uint64_t)value) access(p, 8, HD_OP_WRITE, HD_RA);
}

// ---- shadow call stack
//
// Each entry has its frame's address, so the next call drops frames that longjmp or an exception
// has left.
//
// With HD_PLAN_FUNCTIONS an entry or exit of a function in the shadow call stack is an event.
static HD_COLD void function_event(struct hd_thread *t, uint16_t op, int32_t result) {
  uint32_t top = t->calls.depth - 1;
  if (!hd.record || !hd.accesses) return;
  if (!hd_profiles()) {
    hd_event_settle();
    return;
  }
  struct hd_pending keep = t->pend;
  hd_pend(t, op, t->calls.functions[top], t->calls.frames[top].sp + 16); // the stack pointer in the function: see __tsan_func_entry
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  hd_event(t, 0, result, HD_EV_NODECISION);
  t->pend = keep;
}

// Drops the function at the top, which was left without its hook.
static HD_COLD void jumped(struct hd_thread *t) {
  if (hd.functions) function_event(t, HD_OP_FUNCTION_EXIT, 1);
  t->calls.depth--;
  hd_stack_left(t);
}

HD_ON_SIDE_STACK(void, hd_call_entered, (uint64_t call_site, uintptr_t sp, uint64_t function, uintptr_t fp)) {
  hd_reach(call_site);
  struct hd_thread *t = hd.cur;
  if (sp < t->stack.touched_low) t->stack.touched_low = sp;
  if (HD_UNLIKELY(sp < t->stack.limit && sp >= hd_stack_lo(t) && !hd_stack_handled)) hd_stack_overflow(call_site);
  while (t->calls.depth && t->calls.depth <= HD_SHADOW_MAX && t->calls.frames[t->calls.depth - 1].sp <= sp) {
    if (!t->stack.jumps && !(t->cancel & HD_CANCEL_LEAVING) && t->calls.frames[t->calls.depth - 1].sp - hd_stack_lo(t) < hd_stack_hi(t) - hd_stack_lo(t)) t->stack.moved = true;
    jumped(t);
  }
  uint32_t d = t->calls.depth;
  if (HD_UNLIKELY(hd_leaving != NULL)) hd_leaving(d + 1, call_site); // ranges of calls that longjmp or an exception left
  if (d < HD_SHADOW_MAX) {
    t->calls.frames[d].pc = call_site;
    t->calls.frames[d].sp = sp;
    t->calls.frames[d].fp = fp;
    t->calls.functions[d] = function;
  }
  t->calls.depth = d + 1;
  if (HD_UNLIKELY(hd.functions) && d < HD_SHADOW_MAX) function_event(t, HD_OP_FUNCTION_ENTRY, 0);
  if (call_site - hd_callbacks.lo < hd_callbacks.size) hd_callback();
}

// Records the exit of the function whose hook returns to pc and was called at stack pointer sp, after those
// of functions that longjmp left. A function whose last action is the hook jumps to it: then pc is where the
// function was called.
static HD_COLD void returned(struct hd_thread *t, uint64_t pc, uintptr_t sp) {
  const struct hd_frame *f = t->calls.frames;
  if (t->calls.depth > HD_SHADOW_MAX) return;
  while (t->calls.depth > 1 && f[t->calls.depth - 1].pc != pc && f[t->calls.depth - 1].sp < sp && f[t->calls.depth - 2].sp <= sp) jumped(t);
  if (t->calls.depth) function_event(t, HD_OP_FUNCTION_EXIT, 0);
}

HD_ON_SIDE_STACK(void, hd_call_left, (uint64_t pc, uintptr_t sp, uint64_t zero, uint64_t zero_too)) {
  (void)zero, (void)zero_too;
  struct hd_thread *t = hd.cur;
  if (HD_UNLIKELY(hd_leaving != NULL)) hd_leaving(t->calls.depth, pc);
  if (HD_UNLIKELY(hd.functions)) returned(t, pc, sp);
  if (t->calls.depth && !--t->calls.depth) t->calls.left_pc = pc;
  if (hd.record) {
    hd_event_settle(); // the function's variables no longer exist at the next event
    hd_stack_left(t);
  }
  if (HD_UNLIKELY(hd_callback_returns) && t->calls.depth < HD_SHADOW_MAX &&
      t->calls.frames[t->calls.depth].pc - hd_callbacks.lo < hd_callbacks.size) hd_callback_return();
}

HD_EXPORT void __tsan_func_entry(void *call_site) {
  HD_REGISTERS_KEPT();
  if (!hd_active()) return;
  struct hd_thread *t = hd.cur;
  uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - 16, fp = *(const uintptr_t *)__builtin_frame_address(0); // locals.c
  uint32_t d = t->calls.depth;
  if (HD_UNLIKELY(hd_reached != NULL || hd.functions || d - 1 >= HD_SHADOW_MAX - 1 || t->calls.frames[d - 1].sp <= sp || sp < t->stack.touched_low ||
                  (uint64_t)call_site - hd_callbacks.lo < hd_callbacks.size)) {
    hd_call_entered((uint64_t)call_site, sp, HD_RA, fp);
    return;
  }
  t->calls.frames[d].pc = (uint64_t)call_site;
  t->calls.frames[d].sp = sp;
  t->calls.frames[d].fp = fp;
  t->calls.functions[d] = HD_RA;
  t->calls.depth = d + 1;
  HD_LEAVE_REGISTERS(call_site, sp, HD_RA, fp);
}

HD_EXPORT void __tsan_func_exit(void) {
  HD_REGISTERS_KEPT();
  if (!hd_active()) return;
  struct hd_thread *t = hd.cur;
  uint32_t d = t->calls.depth;
  uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - 16;
  if (HD_UNLIKELY(d <= 1 || hd.record || hd_callback_returns || hd_leaving != NULL)) {
    hd_call_left(HD_RA, sp, 0, 0);
    return;
  }
  t->calls.depth = d - 1;
  HD_LEAVE_REGISTERS(HD_RA, sp, 0, 0);
}

HD_EXPORT void __tsan_init(void) {
  if (hd_controlled()) hd_shm->instrumented = HD_INSTR_TSAN;
  if (hd_loading) hd_late_look(); // a module's first constructor
  hd_hooks_called(HD_RA);
}
HD_EXPORT void __tsan_ignore_thread_begin(void) {}
HD_EXPORT void __tsan_ignore_thread_end(void) {}
