// hooks.c: the calls that -fsanitize=thread makes compilers insert.
#include <setjmp.h>
#include <string.h>
#include "assembly_hooks.h"
#include "live.h"

typedef unsigned __int128 u128;

static inline __attribute__((always_inline)) struct hl_record *access(uint32_t kind, uint64_t pc, const volatile void *p, uint64_t size) {
  if (!hl) return NULL;
  if (hl->mode == HL_PROFILE) {
    if (hl->sharing) {
      struct hl_thread *t = hl_thread();
      bool plain = kind <= HL_WRITE_RANGE, write = kind != HL_READ && kind != HL_READ_RANGE && kind != HL_ATOMIC_LOAD;
      if (!t->inside && !hl_sharing_access(t, pc, (uint64_t)p, size, write) && plain) return NULL;
    }
    return hl_record(kind, pc, (uint64_t)p, (uint32_t)size, 0);
  }
  if (hl->mode == HL_FORCE) hl_force_access(pc, (uint64_t)p, size);
  return NULL;
}

// What an atomic operation has done: the value after it, and before it; of a compare-and-swap what it found, whether it
// stored, and what it stored or had expected.
static inline void done(struct hl_record *r, uint64_t value, uint64_t before) {
  if (HL_LIKELY(!r || !hl->values)) return;
  r->value = value;
  r->more = before;
}
static inline void compared(struct hl_record *r, uint64_t seen, uint64_t other, int ok) {
  if (HL_LIKELY(!r || !hl->values)) return;
  r->value = seen;
  r->more = other;
  if (!ok) r->kind = HL_ATOMIC_CAS_FAILED;
}

#define SIZED(size) \
  HL_EXPORT void __tsan_read##size(void *p) { access(HL_READ, HL_RA, p, size); } \
  HL_EXPORT void __tsan_write##size(void *p) { access(HL_WRITE, HL_RA, p, size); } \
  HL_EXPORT void __tsan_read##size##_pc(void *p, void *pc) { access(HL_READ, (uint64_t)pc, p, size); } \
  HL_EXPORT void __tsan_write##size##_pc(void *p, void *pc) { access(HL_WRITE, (uint64_t)pc, p, size); } \
  HL_EXPORT void __tsan_volatile_read##size(void *p) { access(HL_READ, HL_RA, p, size); } \
  HL_EXPORT void __tsan_volatile_write##size(void *p) { access(HL_WRITE, HL_RA, p, size); } \
  HL_EXPORT void __tsan_read_write##size(void *p) { access(HL_READ, HL_RA, p, size); access(HL_WRITE, HL_RA, p, size); } \
  HL_EXPORT void __tsan_unaligned_read##size(const void *p) { access(HL_READ, HL_RA, p, size); } \
  HL_EXPORT void __tsan_unaligned_write##size(void *p) { access(HL_WRITE, HL_RA, p, size); } \
  HL_EXPORT void __tsan_unaligned_volatile_read##size(const void *p) { access(HL_READ, HL_RA, p, size); } \
  HL_EXPORT void __tsan_unaligned_volatile_write##size(void *p) { access(HL_WRITE, HL_RA, p, size); } \
  HL_EXPORT void __tsan_unaligned_read_write##size(void *p) { access(HL_READ, HL_RA, p, size); access(HL_WRITE, HL_RA, p, size); }
SIZED(1) SIZED(2) SIZED(4) SIZED(8) SIZED(16)

HL_EXPORT void __tsan_read_range(void *p, unsigned long n) { access(HL_READ_RANGE, HL_RA, p, n); }
HL_EXPORT void __tsan_write_range(void *p, unsigned long n) { access(HL_WRITE_RANGE, HL_RA, p, n); }
HL_EXPORT void __tsan_read_range_pc(void *p, unsigned long n, void *pc) { access(HL_READ_RANGE, (uint64_t)pc, p, n); }
HL_EXPORT void __tsan_write_range_pc(void *p, unsigned long n, void *pc) { access(HL_WRITE_RANGE, (uint64_t)pc, p, n); }
HL_EXPORT void __tsan_vptr_read(void **p) { access(HL_READ, HL_RA, p, 8); }
HL_EXPORT void __tsan_vptr_update(void **p, void *v) { if (*p != v) access(HL_WRITE, HL_RA, p, 8); }
HL_EXPORT void __tsan_init(void) {}

HL_EXPORT void *__tsan_memcpy(void *to, const void *from, unsigned long n) {
  access(HL_READ_RANGE, HL_RA, from, n);
  access(HL_WRITE_RANGE, HL_RA, to, n);
  return memcpy(to, from, n);
}
HL_EXPORT void *__tsan_memmove(void *to, const void *from, unsigned long n) {
  access(HL_READ_RANGE, HL_RA, from, n);
  access(HL_WRITE_RANGE, HL_RA, to, n);
  return memmove(to, from, n);
}
HL_EXPORT void *__tsan_memset(void *to, int c, unsigned long n) {
  access(HL_WRITE_RANGE, HL_RA, to, n);
  return memset(to, c, n);
}

// Atomics are sequentially consistent, whatever order the program asks for.
#define RMW(bits, T, name, builtin, result) \
  HL_EXPORT T __tsan_atomic##bits##_##name(volatile T *p, T v, int order) { \
    (void)order; \
    struct hl_record *r = access(HL_ATOMIC_RMW, HL_RA, p, bits / 8); \
    T old = builtin(p, v, __ATOMIC_SEQ_CST); \
    done(r, (uint64_t)(T)(result), (uint64_t)old); \
    return old; \
  }
#define ATOMICS(bits, T) \
  HL_EXPORT T __tsan_atomic##bits##_load(const volatile T *p, int order) { \
    (void)order; \
    struct hl_record *r = access(HL_ATOMIC_LOAD, HL_RA, p, bits / 8); \
    T v = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    done(r, (uint64_t)v, 0); \
    return v; \
  } \
  HL_EXPORT void __tsan_atomic##bits##_store(volatile T *p, T v, int order) { \
    (void)order; \
    done(access(HL_ATOMIC_STORE, HL_RA, p, bits / 8), (uint64_t)v, 0); \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
  } \
  RMW(bits, T, exchange, __atomic_exchange_n, v) RMW(bits, T, fetch_add, __atomic_fetch_add, old + v) RMW(bits, T, fetch_sub, __atomic_fetch_sub, old - v) \
  RMW(bits, T, fetch_and, __atomic_fetch_and, old & v) RMW(bits, T, fetch_or, __atomic_fetch_or, old | v) RMW(bits, T, fetch_xor, __atomic_fetch_xor, old ^ v) \
  RMW(bits, T, fetch_nand, __atomic_fetch_nand, ~(old & v)) \
  static int cas##bits(volatile T *p, T *expected, T v, uint64_t pc) { \
    struct hl_record *r = access(HL_ATOMIC_CAS, pc, p, bits / 8); \
    T want = *expected; \
    int ok = __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    compared(r, (uint64_t)*expected, (uint64_t)(ok ? v : want), ok); \
    return ok; \
  } \
  HL_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *e, T v, int a, int b) { (void)a, (void)b; return cas##bits(p, e, v, HL_RA); } \
  HL_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile T *p, T *e, T v, int a, int b) { (void)a, (void)b; return cas##bits(p, e, v, HL_RA); } \
  HL_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, T v, int a, int b) { (void)a, (void)b; cas##bits(p, &e, v, HL_RA); return e; }
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)

// cmpxchg16b serves all of them: libatomic need not be there.
static u128 swap128(volatile u128 *p, u128 old, u128 v) {
  uint64_t lo = (uint64_t)old, hi = (uint64_t)(old >> 64);
  __asm__ volatile("lock cmpxchg16b %2" : "+a"(lo), "+d"(hi), "+m"(*p) : "b"((uint64_t)v), "c"((uint64_t)(v >> 64)) : "cc", "memory");
  return (u128)hi << 64 | lo;
}
static u128 load128(const volatile u128 *p) { return swap128((volatile u128 *)p, 0, 0); }
#define RMW128(name, result) \
  HL_EXPORT u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int order) { \
    (void)order; \
    struct hl_record *r = access(HL_ATOMIC_RMW, HL_RA, p, 16); \
    for (u128 old = load128(p);;) { \
      u128 seen = swap128(p, old, result); \
      if (seen == old) { \
        done(r, (uint64_t)(result), (uint64_t)old); \
        return old; \
      } \
      old = seen; \
    } \
  }
RMW128(exchange, v) RMW128(fetch_add, old + v) RMW128(fetch_sub, old - v) RMW128(fetch_and, old & v)
RMW128(fetch_or, old | v) RMW128(fetch_xor, old ^ v) RMW128(fetch_nand, ~(old & v))
HL_EXPORT u128 __tsan_atomic128_load(const volatile u128 *p, int order) {
  (void)order;
  struct hl_record *r = access(HL_ATOMIC_LOAD, HL_RA, p, 16);
  u128 v = load128(p);
  done(r, (uint64_t)v, 0);
  return v;
}
HL_EXPORT void __tsan_atomic128_store(volatile u128 *p, u128 v, int order) {
  (void)order;
  done(access(HL_ATOMIC_STORE, HL_RA, p, 16), (uint64_t)v, 0);
  for (u128 old = load128(p);;) {
    u128 seen = swap128(p, old, v);
    if (seen == old) return;
    old = seen;
  }
}
static int cas128(volatile u128 *p, u128 *expected, u128 v, uint64_t pc) {
  struct hl_record *r = access(HL_ATOMIC_CAS, pc, p, 16);
  u128 seen = swap128(p, *expected, v);
  int ok = seen == *expected;
  compared(r, (uint64_t)seen, (uint64_t)(ok ? v : *expected), ok);
  *expected = seen;
  return ok;
}
HL_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *e, u128 v, int a, int b) { (void)a, (void)b; return cas128(p, e, v, HL_RA); }
HL_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *e, u128 v, int a, int b) { (void)a, (void)b; return cas128(p, e, v, HL_RA); }
HL_EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v, int a, int b) { (void)a, (void)b; cas128(p, &e, v, HL_RA); return e; }
HL_EXPORT void __tsan_atomic_thread_fence(int order) { (void)order; __atomic_thread_fence(__ATOMIC_SEQ_CST); }
HL_EXPORT void __tsan_atomic_signal_fence(int order) { (void)order; __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// Inline assembly: the instruction performs the operation itself, between two calls.
static _Thread_local struct { struct hl_record *record; uint64_t address, before; uint32_t word; } assembly;

static uint64_t assembly_value(uint64_t address, uint32_t size) {
  switch (size) {
  case 1: return *(const volatile uint8_t *)address;
  case 2: return *(const volatile uint16_t *)address;
  case 4: return *(const volatile uint32_t *)address;
  default: return *(const volatile uint64_t *)address;
  }
}

void hl_assembly_before(uint64_t address, const struct hd_assembly_frame *f) {
  uint32_t word = (uint32_t)f->word, kind = word & HD_ASSEMBLY_KIND, size = word & HD_ASSEMBLY_SIZE;
  assembly.record = NULL;
  if (!hl || kind == HD_ASSEMBLY_FENCE) return;
  address = hd_assembly_address(address, f);
  // Whether a compare-exchange stores is not known yet: of an exchange both values are recorded, equal or not.
  uint32_t as = kind == HD_ASSEMBLY_LOAD ? HL_ATOMIC_LOAD : kind == HD_ASSEMBLY_STORE ? HL_ATOMIC_STORE : HL_ATOMIC_RMW;
  struct hl_record *r = access(as, f->ret, (const volatile void *)address, size);
  if (!r || !hl->values) return;
  uint64_t value = assembly_value(address, size);
  if (kind == HD_ASSEMBLY_LOAD) done(r, value, 0);
  else assembly.record = r, assembly.address = address, assembly.before = value, assembly.word = word;
}

void hl_assembly_after(uint64_t unused, const struct hd_assembly_frame *f) {
  (void)unused, (void)f;
  if (!assembly.record) return;
  uint32_t kind = assembly.word & HD_ASSEMBLY_KIND;
  done(assembly.record, assembly_value(assembly.address, assembly.word & HD_ASSEMBLY_SIZE), kind == HD_ASSEMBLY_STORE ? 0 : assembly.before);
  assembly.record = NULL;
}

// What else a program linked for ThreadSanitizer may call.
#define NOTHING(name) HL_EXPORT void name(void) {}
NOTHING(AnnotateBenignRace) NOTHING(AnnotateBenignRaceSized) NOTHING(AnnotateCondVarSignal) NOTHING(AnnotateCondVarSignalAll)
NOTHING(AnnotateCondVarWait) NOTHING(AnnotateEnableRaceDetection) NOTHING(AnnotateExpectRace) NOTHING(AnnotateFlushExpectedRaces)
NOTHING(AnnotateFlushState) NOTHING(AnnotateHappensAfter) NOTHING(AnnotateHappensBefore) NOTHING(AnnotateIgnoreReadsBegin)
NOTHING(AnnotateIgnoreReadsEnd) NOTHING(AnnotateIgnoreSyncBegin) NOTHING(AnnotateIgnoreSyncEnd) NOTHING(AnnotateIgnoreWritesBegin)
NOTHING(AnnotateIgnoreWritesEnd) NOTHING(AnnotateMemoryIsInitialized) NOTHING(AnnotateMemoryIsUninitialized)
NOTHING(AnnotateMutexIsNotPHB) NOTHING(AnnotateMutexIsUsedAsCondVar) NOTHING(AnnotateNewMemory) NOTHING(AnnotateNoOp)
NOTHING(AnnotatePCQCreate) NOTHING(AnnotatePCQDestroy) NOTHING(AnnotatePCQGet) NOTHING(AnnotatePCQPut)
NOTHING(AnnotatePublishMemoryRange) NOTHING(AnnotateRWLockAcquired) NOTHING(AnnotateRWLockCreate) NOTHING(AnnotateRWLockCreateStatic)
NOTHING(AnnotateRWLockDestroy) NOTHING(AnnotateRWLockReleased) NOTHING(AnnotateThreadName) NOTHING(AnnotateTraceMemory)
NOTHING(AnnotateUnpublishMemoryRange) NOTHING(WTFAnnotateBenignRaceSized) NOTHING(WTFAnnotateHappensAfter) NOTHING(WTFAnnotateHappensBefore)
NOTHING(__tsan_acquire) NOTHING(__tsan_release) NOTHING(__tsan_flush_memory) NOTHING(__tsan_ignore_thread_begin) NOTHING(__tsan_ignore_thread_end)
NOTHING(__tsan_mutex_create) NOTHING(__tsan_mutex_destroy) NOTHING(__tsan_mutex_pre_lock) NOTHING(__tsan_mutex_post_lock)
NOTHING(__tsan_mutex_post_unlock) NOTHING(__tsan_mutex_pre_signal) NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert) NOTHING(__tsan_mutex_post_divert) NOTHING(__tsan_external_register_header)
NOTHING(__tsan_external_assign_tag) NOTHING(__tsan_external_read) NOTHING(__tsan_external_write)
NOTHING(__tsan_destroy_fiber) NOTHING(__tsan_switch_to_fiber)
HL_EXPORT void *__tsan_create_fiber(unsigned flags) { (void)flags; return NULL; }
HL_EXPORT void *__tsan_get_current_fiber(void) { return NULL; }
HL_EXPORT int __tsan_mutex_pre_unlock(void *mutex, unsigned flags) { (void)mutex, (void)flags; return 0; }
HL_EXPORT void *__tsan_external_register_tag(const char *name) { (void)name; return NULL; }
HL_EXPORT int RunningOnValgrind(void) { return 0; }
HL_EXPORT double ValgrindSlowdown(void) { return 1; }
HL_EXPORT const char *ThreadSanitizerQuery(const char *what) { (void)what; return ""; }

// The linker resolves these to the sanitizer's library instead of the static part of libc.
extern int __cxa_atexit(void (*)(void *), void *, void *);
HL_EXPORT int atexit(void (*fn)(void)) { return __cxa_atexit((void (*)(void *))(void *)fn, NULL, NULL); }
__asm__(".globl sigsetjmp\n.type sigsetjmp, @function\nsigsetjmp: jmp *__sigsetjmp@GOTPCREL(%rip)\n.size sigsetjmp, .-sigsetjmp");
