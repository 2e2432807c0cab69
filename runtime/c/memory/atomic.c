// atomic.c: atomic operations of every width. Each is a scheduling point, and the runtime performs
// it for the program. Executions are sequentially consistent; the memory order is recorded for the
// analyses.
#include "assembly_hooks.h"
#include "core/alone.h"
#include "core/beside_assembly.h"
#include "core/modules.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/reached.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/access.h"
#include "memory/heap.h"
#include "memory/shared_accesses.h"

typedef unsigned __int128 u128;

// ---- what is not explored
//
// Executions are sequentially consistent, and no compare-exchange fails spuriously. The controller learns which atomics
// could have done more. The table is in the shared memory: it outlives executions, whatever isolates them.
HD_ON_SIDE_STACK(void, hd_atomic_relaxed, (const struct hd_thread *t, uint64_t flags, uint64_t pc)) {
  uint32_t depth = t->calls.depth < HD_SHADOW_MAX ? t->calls.depth : HD_SHADOW_MAX;
  uint64_t call = depth > 0 ? hd_name(t->calls.frames[depth - 1].pc) : 0;
  pc = hd_name(pc);
  struct hd_shm *shm = hd_shm;
  uint32_t i = (uint32_t)(hd_mix(pc, call) >> 32);
  for (uint32_t n = 0; n < HD_MAX_RELAXED; n++) {
    struct hd_relaxed *x = &shm->relaxed[(i + n) % HD_MAX_RELAXED];
    if (x->pc == pc && x->calls[0] == call && (x->flags & flags) == flags) return;
    if (x->pc && (x->pc != pc || x->calls[0] != call)) continue;
    x->calls[0] = call;
    x->calls[1] = depth > 1 ? hd_name(t->calls.frames[depth - 2].pc) : 0;
    x->flags |= flags;
    x->pc = pc;
    __atomic_store_n(&shm->nrelaxed, shm->nrelaxed + 1, __ATOMIC_RELEASE);
    return;
  }
  shm->relaxed_full = 1;
}

static inline void ordered(const struct hd_thread *t, int order, uint64_t pc) {
  if (HD_UNLIKELY((order & 7) != __ATOMIC_SEQ_CST)) hd_atomic_relaxed(t, HD_RELAXED_ORDER, pc);
}

static inline void weak(uint64_t pc) {
  if (hd_active()) hd_atomic_relaxed(hd.cur, HD_RELAXED_WEAK, pc);
}

// ---- the operations

static inline __attribute__((always_inline)) struct hd_thread *before(uint16_t op, const volatile void *p, uint32_t size, int order, uint64_t pc) {
  hd_reach(pc);
  HD_CALLED(pc);
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, (uint64_t)p);
  t->pend.size = size;
  t->pend.flags = (uint16_t)(HD_EV_ATOMIC | (order & 7) << 4);
  hd_point(t);
  uint64_t addr = (uint64_t)p;
  if (HD_UNLIKELY(hd_freed(addr))) hd_heap_bad_access(addr, size, op != HD_OP_ATOMIC_LOAD, pc);
  if (HD_UNLIKELY(hd_sharing)) hd_sharing_access(t, addr, size, op, pc);
  ordered(t, order, pc);
  return t;
}

// A failed compare-exchange is a load with the failure memory order.
static inline void failed(struct hd_thread *t, int order) { t->pend.flags = (uint16_t)(HD_EV_ATOMIC | (order & 7) << 4); }

#define ATOMICS(bits, T) \
  HD_EXPORT HD_PROGACCESS T __tsan_atomic##bits##_load(const volatile T *p, int mo) { \
    if (!hd_active()) { \
      T now = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
      hd_alone_sees(HD_OP_ATOMIC_LOAD, p, (uint64_t)now, HD_RA); \
      return now; \
    } \
    struct hd_thread *t = before(HD_OP_ATOMIC_LOAD, p, bits / 8, mo, HD_RA); \
    T v = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    hd_commit(t, (uint64_t)v, 0); \
    hd_observe(t, HD_RA, (uint64_t)v); \
    return v; \
  } \
  HD_EXPORT HD_PROGACCESS void __tsan_atomic##bits##_store(volatile T *p, T v, int mo) { \
    if (!hd_active()) { \
      __atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
      hd_alone_sees(HD_OP_ATOMIC_STORE, p, 0, HD_RA); \
      return; \
    } \
    struct hd_thread *t = before(HD_OP_ATOMIC_STORE, p, bits / 8, mo, HD_RA); \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
    hd_progress(t); \
    hd_commit(t, (uint64_t)v, 0); \
  } \
  RMW(bits, T, exchange, v) \
  RMW(bits, T, fetch_add, (T)(old + v)) \
  RMW(bits, T, fetch_sub, (T)(old - v)) \
  RMW(bits, T, fetch_and, old & v) \
  RMW(bits, T, fetch_or, old | v) \
  RMW(bits, T, fetch_xor, old ^ v) \
  RMW(bits, T, fetch_nand, (T)~(old & v)) \
  static HD_PROGACCESS int cas##bits(volatile T *p, T *expected, T v, int mo, int fail, uint64_t pc) { \
    if (!hd_active()) { \
      int swapped = __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
      hd_alone_sees(swapped ? HD_OP_ATOMIC_STORE : HD_OP_ATOMIC_CAS, p, (uint64_t)*expected, pc); \
      return swapped; \
    } \
    struct hd_thread *t = before(HD_OP_ATOMIC_CAS, p, bits / 8, mo, pc); \
    ordered(t, fail, pc); \
    T want = *expected; \
    T seen = want; \
    int ok = __atomic_compare_exchange_n(p, &seen, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    t->pend.aux = (uint64_t)(ok ? v : want); \
    if (ok) hd_progress(t); \
    else failed(t, fail); \
    hd_commit(t, (uint64_t)seen, ok); \
    if (!ok) { hd_observe(t, pc, (uint64_t)seen); *expected = seen; } \
    return ok; \
  } \
  HD_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *e, T v, int mo, int fail) { \
    return cas##bits(p, e, v, mo, fail, HD_RA); \
  } \
  HD_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile T *p, T *e, T v, int mo, int fail) { \
    weak(HD_RA); \
    return cas##bits(p, e, v, mo, fail, HD_RA); \
  } \
  HD_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, T v, int mo, int fail) { \
    cas##bits(p, &e, v, mo, fail, HD_RA); return e; \
  }

#define RMW(bits, T, name, expr) \
  HD_EXPORT HD_PROGACCESS T __tsan_atomic##bits##_##name(volatile T *p, T v, int mo) { \
    T old, new; \
    if (!hd_active()) { \
      old = __atomic_load_n(p, __ATOMIC_RELAXED); \
      do new = expr; while (!__atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
      hd_alone_sees(old == new ? HD_OP_ATOMIC_RMW : HD_OP_ATOMIC_STORE, p, (uint64_t)old, HD_RA); \
      return old; \
    } \
    struct hd_thread *t = before(HD_OP_ATOMIC_RMW, p, bits / 8, mo, HD_RA); \
    old = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    new = expr; \
    __atomic_store_n(p, new, __ATOMIC_SEQ_CST); \
    t->pend.aux = (uint64_t)old; \
    if (old != new) hd_progress(t); \
    hd_commit(t, (uint64_t)new, 0); \
    if (old == new) hd_observe(t, HD_RA, (uint64_t)old); \
    return old; \
  }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

// 128 bits.
static HD_PROGACCESS u128 wide_cas(volatile u128 *p, u128 expected, u128 v) { return hd_wide_cas(p, expected, v); }
static HD_PROGACCESS u128 wide_rmw(volatile u128 *p, u128 v, int kind, uint16_t op, int mo, uint64_t pc, u128 *result) {
  struct hd_thread *t = NULL;
  if (hd_active()) t = before(op, p, 16, mo, pc);
  u128 old = wide_cas(p, 0, 0), new;
  for (;;) {
    switch (kind) {
    case 0: new = v; break;
    case 1: new = old + v; break;
    case 2: new = old - v; break;
    case 3: new = old & v; break;
    case 4: new = old | v; break;
    case 5: new = old ^ v; break;
    default: new = ~(old & v);
    }
    u128 seen = wide_cas(p, old, new);
    if (seen == old) break;
    old = seen;
  }
  if (t) {
    t->pend.aux = op == HD_OP_ATOMIC_RMW ? (uint64_t)old : 0;
    hd_progress(t);
    hd_commit(t, (uint64_t)new, 0);
  }
  if (result) *result = new;
  return old;
}
HD_EXPORT u128 __tsan_atomic128_load(const volatile u128 *p, int mo) {
  struct hd_thread *t = NULL;
  if (hd_active()) t = before(HD_OP_ATOMIC_LOAD, p, 16, mo, HD_RA);
  u128 v = wide_cas((volatile u128 *)p, 0, 0);
  if (t) { hd_commit(t, (uint64_t)v, 0); hd_observe(t, HD_RA, (uint64_t)v ^ (uint64_t)(v >> 64)); }
  return v;
}
HD_EXPORT void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo) { wide_rmw(p, v, 0, HD_OP_ATOMIC_STORE, mo, HD_RA, NULL); }
#define WIDE(name, kind) \
  HD_EXPORT u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo) { return wide_rmw(p, v, kind, HD_OP_ATOMIC_RMW, mo, HD_RA, NULL); }
WIDE(exchange, 0) WIDE(fetch_add, 1) WIDE(fetch_sub, 2) WIDE(fetch_and, 3) WIDE(fetch_or, 4) WIDE(fetch_xor, 5) WIDE(fetch_nand, 6)

static HD_PROGACCESS int cas128(volatile u128 *p, u128 *expected, u128 v, int mo, int fail, uint64_t pc) {
  struct hd_thread *t = NULL;
  if (hd_active()) {
    t = before(HD_OP_ATOMIC_CAS, p, 16, mo, pc);
    ordered(t, fail, pc);
  }
  u128 want = *expected, seen = wide_cas(p, want, v);
  int ok = seen == want;
  if (t) {
    t->pend.aux = (uint64_t)(ok ? v : want);
    if (ok) hd_progress(t);
    else failed(t, fail);
    hd_commit(t, (uint64_t)seen, ok);
  }
  if (!ok) *expected = seen;
  return ok;
}
HD_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *e, u128 v, int mo, int fail) { return cas128(p, e, v, mo, fail, HD_RA); }
HD_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *e, u128 v, int mo, int fail) { weak(HD_RA); return cas128(p, e, v, mo, fail, HD_RA); }
HD_EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v, int mo, int fail) { cas128(p, &e, v, mo, fail, HD_RA); return e; }

static void fence(int mo, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, HD_OP_ATOMIC_FENCE, pc, 0);
  t->pend.flags = (uint16_t)(HD_EV_ATOMIC | (mo & 7) << 4);
  hd_point(t);
  ordered(t, mo, pc);
  hd_commit(t, 0, 0);
}
HD_EXPORT void __tsan_atomic_thread_fence(int mo) {
  if (hd_active()) fence(mo, HD_RA);
  else __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
HD_EXPORT void __tsan_atomic_signal_fence(int mo) { (void)mo; __asm__ volatile("" ::: "memory"); }

// ---- inline assembly
//
// The instruction performs the operation itself, between two calls; a load and a fence have only the first. Nothing else runs
// between the two but a handler of the instruction's fault, so one place is enough for what the first leaves to the second.
// address is 0 if that is nothing.
static struct { uint64_t address, before, expected, pc; uint32_t word; } assembly;

static HD_PROGACCESS uint64_t assembly_value(uint64_t address, uint32_t size) {
  switch (size) {
  case 1: return *(const volatile uint8_t *)address;
  case 2: return *(const volatile uint16_t *)address;
  case 4: return *(const volatile uint32_t *)address;
  case 16: return *(const volatile uint64_t *)address ^ *(const volatile uint64_t *)(address + 8);
  default: return *(const volatile uint64_t *)address;
  }
}

// A processor may reorder plain moves; locked instructions and fences it does not.
static int assembly_order(uint32_t word) {
  if (!(word & HD_ASSEMBLY_PLAIN)) return __ATOMIC_SEQ_CST;
  switch (word & HD_ASSEMBLY_KIND) {
  case HD_ASSEMBLY_LOAD: return __ATOMIC_ACQUIRE;
  case HD_ASSEMBLY_STORE: return __ATOMIC_RELEASE;
  default: return __ATOMIC_ACQ_REL;
  }
}

static uint64_t assembly_expects(const struct hd_assembly_frame *f, uint32_t word, uint32_t size) {
  if ((word & HD_ASSEMBLY_WIDE) && size == 8) return (uint64_t)(uint32_t)f->rdx << 32 | (uint32_t)f->rax;
  switch (size) {
  case 1: return (uint8_t)f->rax;
  case 2: return (uint16_t)f->rax;
  case 4: return (uint32_t)f->rax;
  case 16: return f->rax ^ f->rdx;
  default: return f->rax;
  }
}

void hd_assembly_before(uint64_t address, const struct hd_assembly_frame *f) {
  static const uint16_t operations[] = { HD_OP_ATOMIC_LOAD, HD_OP_ATOMIC_STORE, HD_OP_ATOMIC_RMW, HD_OP_ATOMIC_CAS, HD_OP_ATOMIC_FENCE };
  uint32_t word = (uint32_t)f->word, kind = word & HD_ASSEMBLY_KIND, size = word & HD_ASSEMBLY_SIZE;
  bool active = hd_active();
  if (kind == HD_ASSEMBLY_FENCE) {
    if (active) fence(__ATOMIC_SEQ_CST, f->ret);
    return;
  }
  if (!active && !hd_alone) return;
  address = hd_assembly_address(address, f);
  assembly.address = 0;
  // The fault is to be the instruction's: a handler may know its place and change its registers.
  if (kind == HD_ASSEMBLY_LOAD ? hd_word_or(address & ~3ull, 0) != hd_word_or(address & ~3ull, 1) : !hd_writable(address)) return;
  uint16_t op = operations[kind >> 8];
  struct hd_thread *t = NULL;
  hd_instruction_is(f->ret, HD_EV_ASSEMBLY);
  if (active) hd_assembly_accesses(address, size);
  if (active) t = before(op, (const volatile void *)address, size, assembly_order(word), f->ret);
  uint64_t value = assembly_value(address, size);
  if (kind == HD_ASSEMBLY_LOAD) {
    if (!active) { hd_alone_sees(op, (const volatile void *)address, value, f->ret); return; }
    hd_commit(t, value, 0);
    hd_observe(t, f->ret, value);
    return;
  }
  assembly.address = address, assembly.before = value, assembly.pc = f->ret, assembly.word = word;
  assembly.expected = assembly_expects(f, word, size);
}

enum { zero_flag = 1 << 6 };

void hd_assembly_after(uint64_t unused, const struct hd_assembly_frame *f) {
  (void)unused;
  bool active = hd_active();
  if ((!active && !hd_alone) || !assembly.address) return;
  uint32_t kind = assembly.word & HD_ASSEMBLY_KIND, size = assembly.word & HD_ASSEMBLY_SIZE;
  uint64_t old = assembly.before, new = assembly_value(assembly.address, size);
  uint64_t address = assembly.address;
  assembly.address = 0;
  if (!active) {
    bool changed = kind == HD_ASSEMBLY_STORE || old != new;
    hd_alone_sees(changed ? HD_OP_ATOMIC_STORE : HD_OP_ATOMIC_RMW, (const volatile void *)address, old, assembly.pc);
    return;
  }
  struct hd_thread *t = hd.cur;
  switch (kind) {
  case HD_ASSEMBLY_STORE:
    hd_progress(t);
    hd_commit(t, new, 0);
    return;
  case HD_ASSEMBLY_RMW:
    t->pend.aux = old;
    if (old != new) hd_progress(t);
    hd_commit(t, new, 0);
    if (old == new) hd_observe(t, assembly.pc, old);
    return;
  default: {
    int ok = (f->flags & zero_flag) != 0; // a compare-exchange sets it if it has stored
    t->pend.aux = ok ? new : assembly.expected;
    if (ok) hd_progress(t);
    hd_commit(t, old, ok);
    if (!ok) hd_observe(t, assembly.pc, old);
  }
  }
}

// ---- volatile accesses to what inline assembly has accessed
//
// The access follows the call: nothing else runs between the two but a handler of its fault.
bool hd_volatile_atomic(uint64_t address, uint32_t size, bool store, uint64_t pc) {
  if (!hd_assembly_accessed(address, size)) return false;
  if (store ? !hd_writable(address) : hd_word_or(address & ~3ull, 0) != hd_word_or(address & ~3ull, 1)) return false;
  struct hd_thread *t = before(store ? HD_OP_ATOMIC_STORE : HD_OP_ATOMIC_LOAD, (const volatile void *)address, size, store ? __ATOMIC_RELEASE : __ATOMIC_ACQUIRE, pc);
  if (store) {
    hd.wrote = HD_WROTE;
    hd_progress(t);
    hd_commit(t, 0, 0); // see hd_event: the event gets the value later
  } else {
    uint64_t value = assembly_value(address, size);
    hd_commit(t, value, 0);
    hd_observe(t, pc, value);
  }
  return true;
}
