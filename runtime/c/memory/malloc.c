// malloc.c: malloc and similar functions.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include "core/event.h"
#include "core/injection.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/stacks.h"
#include "memory/access.h"
#include "memory/heap.h"
#include "memory/shadow.h"
#include "memory/shared_accesses.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// Whose block it is. MAPPING: the kernel's for the program; LIBRARY: from the allocator of a library.
enum owner { PROGRAM, MAPPING, RUNTIME, LIBRARY };

// Tells the controller of a block outside the runtime's heap that may race.
static HD_COLD void tell(struct hd_thread *t, void *p, uint64_t size, uint64_t pc) {
  hd_event_flush();
  struct hd_block rec = { .object = hd_name((uint64_t)p), .size = size, .pc = hd_name(pc), .thread = t->number, .stack = hd_stack_number(t, HD_OP_MALLOC, pc) };
  hd_out(HD_REC_BLOCK, &rec, sizeof rec);
}

// Records an event that tells the analyses where a block's lifetime begins or ends. It is not a
// scheduling point; free is one only if an access was found to race with it.
// error: the call has allocated nothing, and returns p; or -1: it frees nothing. The event's size has 32 bits; the value has
// those above.
static void note(uint16_t op, void *p, uint64_t size, int error, uint64_t pc, enum owner owner) {
  if (HD_LIKELY(!hd.record && !hd.watcher) || !hd_active()) return;
  struct hd_thread *t = hd.cur;
  bool hooks = owner <= MAPPING && hd_calls_hooks(pc);
  if (hd.watcher && (uintptr_t)p >= HD_NO_MEMORY) {
    if (op == HD_OP_FREE) hd_shadow_access(t, (uint64_t)p, size, op, pc);
    else if (hooks && (hd.unjoined || hd.handlers)) hd_shadow_allocated(t, (uint64_t)p, size, pc);
    else hd_shadow_reset((uint64_t)p, size);
    if (hd.record && op == HD_OP_MALLOC && owner != LIBRARY) {
      if (owner == MAPPING) tell(t, p, size, pc);
      else hd_heap_born(p, t, pc);
    }
  }
  if (HD_UNLIKELY(hd_sharing)) {
    if (op == HD_OP_FREE) hd_sharing_access(t, (uint64_t)p, size, op, pc);
    else if ((uintptr_t)p >= HD_NO_MEMORY) hd_sharing_forget((uint64_t)p, size);
  }
  if (!hd.record || (hd.watcher && !hd.accesses)) return;
  if (hd.accesses) hd_profiles(); // it is sent in any case
  struct hd_pending keep = t->pend;
  hd_pend(t, op, pc, (uint64_t)p);
  t->pend.size = (uint32_t)size;
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  hd_event(t, size >> 32, error, HD_EV_NODECISION | (hooks ? HD_EV_HOOKS : 0));
  t->pend = keep;
}

HD_ON_SIDE_STACK(void, hd_block_begins, (const void *p, uint64_t size, uint64_t pc)) { note(HD_OP_MALLOC, (void *)p, size, 0, pc, LIBRARY); }
HD_ON_SIDE_STACK(void, hd_mapping_begins, (void *p, uint64_t size, uint64_t pc)) { note(HD_OP_MALLOC, p, size, 0, pc, MAPPING); }

static inline void *allocate(uint64_t size, uint64_t align, uint64_t pc, enum owner owner) {
  if (HD_UNLIKELY(hd_injectable)) size = hd_inject_allocated(size, pc);
  bool nowhere = hd_injects(HD_FAULT_POINTER, pc);
  void *p = nowhere ? HD_FAULT_NOWHERE : hd_heap_alloc(size, align, pc);
  note(HD_OP_MALLOC, p, size, p ? 0 : ENOMEM, pc, nowhere ? LIBRARY : owner);
  if (!p) errno = ENOMEM;
  return p;
}

HD_ON_SIDE_STACK(void *, hd_alloc, (uint64_t size, uint64_t align, uint64_t pc)) { return allocate(size, align, pc, PROGRAM); }
HD_ON_SIDE_STACK(void *, hd_alloc_own, (uint64_t size, uint64_t pc)) { return allocate(size, 16, pc, RUNTIME); }

HD_ON_SIDE_STACK(void, hd_release, (void *p, uint64_t pc)) {
  if (!p) return;
  if (hd_active() && hd_is_point(pc) && hd_heap_owns((uintptr_t)p)) {
    struct hd_thread *t = hd.cur;
    hd_pend(t, HD_OP_FREE, pc, (uint64_t)p);
    t->pend.size = (uint32_t)hd_heap_size(p);
    if (hd_calls_hooks(pc)) t->pend.flags = HD_EV_HOOKS;
    hd_point(t);
    hd_progress(t);
    hd_commit(t, hd_heap_size(p) >> 32, 0);
  } else if (hd_active() && hd_heap_owns((uintptr_t)p) && !hd_access_exempts(pc)) {
    note(HD_OP_FREE, p, hd_heap_size(p), hd_heap_live(p) ? 0 : -1, pc, PROGRAM);
  }
  if (hd_active()) hd_event_settle();
  hd_heap_free(p, pc);
}

HD_EXPORT void *malloc(size_t n) { return hd_controlled() ? hd_alloc(n, 16, HD_RA) : __libc_malloc(n); }
HD_EXPORT void free(void *p) {
  if (hd_controlled()) hd_release(p, HD_RA);
  else __libc_free(p);
}
HD_EXPORT void cfree(void *p) { free(p); }

HD_EXPORT void *calloc(size_t k, size_t n) {
  if (!hd_controlled()) return __libc_calloc(k, n);
  size_t total;
  if (__builtin_mul_overflow(k, n, &total)) total = SIZE_MAX; // no block is that large
  void *p = hd_alloc(total, 16, HD_RA);
  if (p && p != HD_FAULT_NOWHERE) hd_fill(p, 0, total < hd_heap_size(p) ? total : hd_heap_size(p));
  return p;
}

static inline void *reallocate(void *old, size_t n, uint64_t pc) {
  if (!old) return hd_alloc(n, 16, pc);
  if (n == 0) { hd_release(old, pc); return NULL; }
  uint64_t have = hd_heap_size(old);
  void *p = hd_alloc(n, 16, pc);
  if (!p) return NULL;
  if (p == HD_FAULT_NOWHERE) return p;
  if (hd_heap_size(p) < n) n = hd_heap_size(p);
  hd_copy(p, old, have < n ? have : n);
  hd_release(old, pc);
  return p;
}
HD_EXPORT void *realloc(void *old, size_t n) { return hd_controlled() ? reallocate(old, n, HD_RA) : __libc_realloc(old, n); }

HD_EXPORT void *reallocarray(void *old, size_t k, size_t n) {
  size_t total;
  if (__builtin_mul_overflow(k, n, &total)) total = SIZE_MAX;
  return hd_controlled() ? reallocate(old, total, HD_RA) : __libc_realloc(old, total);
}

static void *aligned(size_t align, size_t n, uint64_t pc) {
  if (!hd_controlled()) return __libc_memalign(align, n);
  if (align & (align - 1)) { errno = EINVAL; return NULL; }
  return hd_alloc(n, align, pc);
}
HD_EXPORT void *memalign(size_t align, size_t n) { return aligned(align, n, HD_RA); }
HD_EXPORT void *aligned_alloc(size_t align, size_t n) { return aligned(align, n, HD_RA); }
HD_EXPORT void *valloc(size_t n) { return aligned(4096, n, HD_RA); }
HD_EXPORT void *pvalloc(size_t n) { return aligned(4096, (n + 4095) & ~4095ul, HD_RA); }
HD_EXPORT int posix_memalign(void **out, size_t align, size_t n) {
  if (align % sizeof(void *) || align & (align - 1) || !align) return EINVAL;
  void *p = aligned(align, n, HD_RA);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}
HD_EXPORT size_t malloc_usable_size(void *p) {
  if (!p) return 0;
  return hd_controlled() ? hd_heap_size(p) : REAL(malloc_usable_size)(p);
}
