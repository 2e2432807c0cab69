// heap.c: the program's heap. The runtime has its own allocator so that a schedule yields the same
// addresses every time, a copy restores the heap, and a quarantine of freed blocks reveals uses
// after free. A shadow byte holds the state of each 16 bytes. Once the quarantine is full, small
// blocks are reused by size class, in the order in which they were freed.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/event.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/stacks.h"
#include "memory/access.h"
#include "memory/heap.h"
#include "memory/shadow.h"

enum {
  CLASSES = 96,
  RING = 1 << 14,                // freed blocks in quarantine
  QUARANTINE_BYTES = 1 << 20,
  POISON = 0xdb, POISON_MAX = 1024,
  OPEN_UNIT = 128 << 10,         // the arena opens by multiples of this
  OPEN_AHEAD = 16 << 20,         // and by at most this much more than a block needs
  IDLE = 64 << 10,               // pages that the last execution did not use are cleared up to this size, and returned above it
  LIVE = 0x4556, FREED = 0x4545,
};

struct header { // just before the block
  uint64_t size;   // as requested
  uint16_t cls;    // size class; CLASSES: never reused
  uint16_t state;  // LIVE, FREED
  uint32_t origin; // 1 + index into origins, set by hd_heap_born; 0: unknown
};

static struct heap {
  uint64_t used;          // bump pointer, offset
  uint64_t opened;        // accesses fault from this offset on
  uint64_t head, tail;    // quarantine ring
  uint64_t bytes;         // in quarantine
  uint64_t free[CLASSES]; // offset of the first reusable block; next is in its header's size
} heap, saved;

static uint64_t *ring;        // offsets of freed blocks
static uint64_t saved_ring[64];
uint8_t *hd_heap_shadow;
static uint64_t heap_size;
static uint8_t *saved_shadow;
static uint64_t dirty; // between executions, pages behind the snapshot's are absent from this offset on, and zero before it

static uint64_t page_up(uint64_t off) { return (off + 4095) & ~4095ull; }

// Opens the arena up to an offset and closes the rest. Wild pointers into the rest fault as they would without heddle. How
// much is open depends only on what the execution has allocated, never on earlier executions.
static HD_COLD bool open_to(uint64_t end) {
  end = (end + OPEN_UNIT - 1) / OPEN_UNIT * OPEN_UNIT;
  if (end > heap_size) end = heap_size;
  bool grows = end > heap.opened;
  uint64_t from = grows ? heap.opened : end, to = grows ? end : heap.opened;
  if (from < to && hd_sys(SYS_mprotect, hd_heap_base + from, to - from, grows ? PROT_READ | PROT_WRITE : PROT_NONE) < 0) return false;
  heap.opened = end;
  return true;
}

static void heap_init(void) {
  for (heap_size = 64ull << 30; heap_size >= 1ull << 30; heap_size >>= 1) {
    long p = hd_sys6(SYS_mmap, (long)(HD_HEAP_BASE + hd_random_gap), (long)heap_size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p < 0) continue;
    hd_heap_base = (uintptr_t)p;
    hd_sys(SYS_madvise, p, heap_size, MADV_DONTDUMP);
    hd_sys(SYS_madvise, p, heap_size, MADV_NOHUGEPAGE); // a huge page would be restored as a whole
    break;
  }
  if (!hd_heap_base) hd_refuse("no address space for the program's heap: raise the limit on virtual memory (ulimit -v)");
  hd_heap_shadow = hd_map(heap_size / 16, "the heap's shadow");
  ring = hd_map(RING * sizeof *ring, "the heap's quarantine");
  hd_shm->heap_base = hd_heap_base;
  hd_shm->heap_size = heap_size;
  // A limit on data counts memory that is open, the runtime's own included. Opening could fail where libc's malloc succeeds.
  struct rlimit data;
  bool limited = hd_sys4(SYS_prlimit64, 0, RLIMIT_DATA, NULL, &data) < 0 || data.rlim_cur != RLIM_INFINITY;
  heap.opened = heap_size;
  if (!limited) open_to(0);
}

void hd_heap_open_all(void) {
  if (!hd_heap_base) heap_init();
  open_to(heap_size);
}

// Makes the pages between two offsets absent, so that they read as zero.
static void drop(uint64_t from, uint64_t to) {
  if (from < to) hd_sys(SYS_madvise, hd_heap_base + from, to - from, MADV_DONTNEED);
}

// 16-byte steps up to 512, then four classes for each power of two.
static uint32_t class_of(uint64_t size, uint64_t *rounded) {
  if (size <= 512) {
    uint64_t n = (size + 15) / 16;
    *rounded = n ? n * 16 : 16;
    return n ? (uint32_t)n - 1 : 0;
  }
  uint32_t k = 63 - (uint32_t)__builtin_clzll(size - 1); // size-1 in [2^k, 2^(k+1))
  uint64_t step = 1ull << (k - 2);
  uint64_t n = (size - 1 - (1ull << k)) / step;
  *rounded = (1ull << k) + (n + 1) * step;
  uint32_t c = 32 + (k - 9) * 4 + (uint32_t)n;
  return c < CLASSES ? c : CLASSES;
}

static struct header *header_at(uint64_t off) { return (struct header *)(hd_heap_base + off) - 1; }

static void mark(uint64_t off, uint64_t bytes, int state) {
  hd_fill(hd_heap_shadow + off / 16, state, (bytes + 15) / 16);
}

// Releases the oldest block of the quarantine for reuse.
static void release_oldest(void) {
  uint64_t off = ring[heap.tail++ % RING];
  struct header *h = header_at(off);
  uint64_t rounded;
  if (h->size > heap_size || (class_of(h->size, &rounded) != h->cls && h->cls != CLASSES)) {
    if (hd_mode == HD_ACTIVE) hd_misuse(hd.cur->pend.pc, hd_heap_base + off, "write to freed memory (the header of a freed heap block was overwritten)");
    return;
  }
  heap.bytes = heap.bytes > rounded ? heap.bytes - rounded : 0;
  if (h->cls < CLASSES) {
    h->size = heap.free[h->cls];
    heap.free[h->cls] = off;
  }
}

void *hd_heap_alloc(uint64_t size, uint64_t align, uint64_t pc) {
  if (HD_UNLIKELY(!hd_heap_base)) heap_init();
  if (size > heap_size) return NULL;
  uint64_t rounded;
  uint32_t cls = class_of(size, &rounded);
  uint64_t off = 0;
  if (align <= 16 && cls < CLASSES && heap.free[cls]) {
    off = heap.free[cls];
    uint64_t next = header_at(off)->size; // the link of the list
    if (next >= heap.used || next % 16) {
      if (hd_mode == HD_ACTIVE) hd_misuse(pc, hd_heap_base + off, "write to freed memory (the header of a freed heap block was overwritten)");
      next = 0;
    }
    heap.free[cls] = next;
  } else {
    if (align < 16) align = 16;
    off = (heap.used + sizeof(struct header) + align - 1) & ~(align - 1);
    if (off + rounded > heap_size) return NULL;
    if (HD_UNLIKELY(off + rounded > heap.opened)) {
      uint64_t ahead = heap.opened - saved.opened; // so that large heaps take few calls
      if (!open_to(off + rounded + (ahead < OPEN_AHEAD ? ahead : OPEN_AHEAD))) return NULL;
    }
    heap.used = off + rounded;
    hd_heap_used = heap.used;
    if (align > 16) cls = CLASSES;
  }
  struct header *h = header_at(off);
  h->size = size;
  h->cls = (uint16_t)cls;
  h->state = LIVE;
  h->origin = 0;
  hd_heap_shadow[off / 16 - 1] = HD_SH_HEADER;
  mark(off, rounded, HD_SH_LIVE);
  return (void *)(hd_heap_base + off);
}

// An overflow may have overwritten the header, and p may point anywhere: hd_heap_free reports both.
bool hd_heap_live(void *p) {
  uint64_t off = (uintptr_t)p - hd_heap_base;
  if (!hd_heap_owns((uintptr_t)p) || off % 16 || off < 16 || hd_heap_shadow[off / 16 - 1] != HD_SH_HEADER) return false;
  const struct header *h = (struct header *)p - 1;
  return h->state == LIVE && off < heap.used && h->size <= heap.used - off;
}
uint64_t hd_heap_size(void *p) { return hd_heap_live(p) ? ((struct header *)p - 1)->size : 0; }

// Returns the start of the block that contains an offset, 0 if no block does.
static uint64_t block_of(uint64_t off) {
  uint64_t g = off / 16;
  while (g && hd_heap_shadow[g] != HD_SH_HEADER && hd_heap_shadow[g] != HD_SH_NONE) g--;
  return hd_heap_shadow[g] == HD_SH_HEADER ? (g + 1) * 16 : 0;
}

void hd_heap_free(void *p, uint64_t pc) {
  uint64_t off = (uintptr_t)p - hd_heap_base;
  struct header *h = (struct header *)p - 1;
  bool inside = hd_heap_owns((uintptr_t)p) && off % 16 == 0 && off >= 16 && hd_heap_shadow[off / 16 - 1] == HD_SH_HEADER;
  if (!inside || h->state != LIVE) {
    if (hd_mode != HD_ACTIVE) return;
    hd_misuse(pc, (uint64_t)p, inside && h->state == FREED ? "free of memory that was freed already"
                                                           : "free of an address that is not a heap block");
  }
  uint64_t rounded = 0;
  uint32_t cls = h->size <= heap_size ? class_of(h->size, &rounded) : CLASSES + 1;
  if ((cls != h->cls && h->cls != CLASSES) || cls > CLASSES || off + rounded > heap.used) {
    if (hd_mode != HD_ACTIVE) return;
    hd_misuse(pc, (uint64_t)p, "free of a heap block whose header was overwritten");
  }
  h->state = FREED;
  mark(off, rounded, HD_SH_FREED);
  hd_fill(p, POISON, rounded < POISON_MAX ? rounded : POISON_MAX);
  if (hd_active()) hd_memory_gone((uint64_t)p, rounded);
  if (heap.head - heap.tail == RING) release_oldest();
  ring[heap.head++ % RING] = off;
  heap.bytes += rounded;
  while (heap.bytes > QUARANTINE_BYTES && heap.head != heap.tail) release_oldest();
}

void hd_gone_event(uint64_t p, uint32_t size, bool write, uint64_t pc) {
  if (hd.open) return; // at a scheduling point, hd_commit_failed does this
  static const uint16_t ops[2][2] = { { HD_OP_READ_RANGE, HD_OP_READ }, { HD_OP_WRITE_RANGE, HD_OP_WRITE } };
  uint16_t op = ops[write][size <= 16 && !(size & (size - 1))];
  if (hd.watcher) hd_shadow_point(hd.cur, p, size, op, pc); // what ended the memory may race with the use
  if (!hd.record || (hd.watcher && !hd.accesses)) return;
  hd_profiles(); // it is sent in any case
  hd_pend(hd.cur, op, pc, p);
  hd.cur->pend.size = size;
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  hd_event(hd.cur, 0, -1, HD_EV_NODECISION);
  hd_event_forget(); // it never happens
}

void hd_heap_bad_access(uintptr_t a, uint32_t size, bool write, uint64_t pc) {
  hd_gone_event(a, size, write, pc);
  if (!hd_heap_owns(a)) hd_gone_use(a, pc, write ? "write to" : "read of");
  uint64_t off = block_of(a - hd_heap_base);
  hd_misuse(pc, off ? hd_heap_base + off : a, write ? "write to freed memory" : "read of freed memory");
}

// ---- where blocks were allocated
//
// A block's header has only an index. The table lies outside the program's memory.
enum { ORIGINS = 1 << 16 };
static struct origin { uint64_t pc; uint32_t thread, stack, slot; } *origins;
static uint32_t norigins, origin_slots[2 * ORIGINS]; // open addressing: 1 + index

void hd_heap_begin(void) {
  while (norigins) origin_slots[origins[--norigins].slot] = 0;
}

void hd_heap_born(void *p, struct hd_thread *t, uint64_t pc) {
  if (!origins) origins = hd_map(ORIGINS * sizeof *origins, "the origins of heap blocks");
  struct origin o = { .pc = pc, .thread = t->number, .stack = hd_stack_number(t, HD_OP_MALLOC, pc) };
  uint32_t k = (uint32_t)(hd_mix(o.pc, (uint64_t)o.thread << 32 | o.stack) >> 40) % (2 * ORIGINS);
  for (; origin_slots[k]; k = (k + 1) % (2 * ORIGINS)) {
    struct origin *other = &origins[origin_slots[k] - 1];
    if (other->pc == o.pc && other->thread == o.thread && other->stack == o.stack) break;
  }
  if (!origin_slots[k]) {
    if (norigins == ORIGINS) return; // later blocks have no names
    o.slot = k;
    origins[norigins++] = o;
    origin_slots[k] = norigins;
  }
  ((struct header *)p)[-1].origin = origin_slots[k];
}

void hd_heap_tell(uint64_t addr) {
  uint64_t off = block_of(addr - hd_heap_base);
  if (!off) return;
  const struct header *h = header_at(off);
  if (!h->origin || h->origin > norigins) return;
  const struct origin *o = &origins[h->origin - 1];
  struct hd_block rec = { .object = hd_heap_base + off, .size = h->size, .pc = hd_name(o->pc), .thread = o->thread, .stack = o->stack, .freed = hd_heap_shadow[off >> 4] == HD_SH_FREED };
  hd_out(HD_REC_BLOCK, &rec, sizeof rec);
}

// The snapshot contains the pages of the heap (snapshot.c). These two functions save and restore
// the allocator's state.
void hd_heap_save(void) {
  if (!hd_heap_base) heap_init();
  // Most executions need no more than this, and no system call.
  if (heap.opened < heap_size && !open_to(heap.used + OPEN_UNIT)) hd_refuse("no memory for the program's heap");
  dirty = page_up(heap.used);
  drop(dirty, heap.opened);
  saved = heap;
  uint64_t n = (heap.used + 15) / 16;
  saved_shadow = hd_map(n + 1, "the heap's shadow copy");
  hd_copy(saved_shadow, hd_heap_shadow, n);
  // Saves the quarantine, too. If it is larger than saved_ring, its oldest blocks leave it and are
  // not reused.
  uint64_t k = heap.head - heap.tail;
  if (k > sizeof saved_ring / sizeof *saved_ring) {
    saved.tail = saved.head - sizeof saved_ring / sizeof *saved_ring;
    saved.bytes = 0;
    for (uint64_t i = saved.tail; i < saved.head; i++) {
      uint64_t rounded;
      class_of(header_at(ring[i % RING])->size, &rounded);
      saved.bytes += rounded;
    }
    heap = saved;
    k = saved.head - saved.tail;
  }
  for (uint64_t i = 0; i < k; i++) saved_ring[i] = ring[(saved.tail + i) % RING];
}

// faulted: the execution may have touched absent pages, by wild pointers also pages above the last block.
void hd_heap_restore(bool faulted) {
  uint64_t keep = (saved.used + 15) / 16, used = (heap.used + 15) / 16;
  hd_copy(hd_heap_shadow, saved_shadow, keep);
  if (used > keep) hd_fill(hd_heap_shadow + keep, 0, used - keep);
  uint64_t from = page_up(saved.used), to = page_up(heap.used);
  if (dirty < to) dirty = to;
  if (faulted || dirty - to > IDLE) {
    drop(to, heap.opened > dirty ? heap.opened : dirty);
    dirty = to;
  }
  if (dirty - from > 1 << 20) {
    drop(from, dirty);
    dirty = from;
  }
  // What lies behind the part that is open is as an earlier execution left it, hence empty.
  uint64_t end = dirty < heap.opened ? dirty : heap.opened;
  if (end > from) hd_fill((void *)(hd_heap_base + from), 0, end - from);
  if (HD_UNLIKELY(heap.opened > saved.opened)) open_to(saved.opened);
  uint64_t k = saved.head - saved.tail;
  heap = saved;
  hd_heap_used = heap.used;
  for (uint64_t i = 0; i < k; i++) ring[(saved.tail + i) % RING] = saved_ring[i];
}
