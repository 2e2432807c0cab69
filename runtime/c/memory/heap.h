// heap.h: the program's heap, and which parts of it are freed.
#ifndef HD_MEMORY_HEAP_H
#define HD_MEMORY_HEAP_H
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "memory/thread_memory.h"

void *hd_heap_alloc(uint64_t size, uint64_t align, uint64_t pc);
void hd_heap_free(void *p, uint64_t pc);
uint64_t hd_heap_size(void *p);         // usable bytes, 0 if p is not a block in use
bool hd_heap_live(void *p);             // p is a block in use
// Records that t allocated the block at pc, for hd_heap_tell.
void hd_heap_born(void *p, struct hd_thread *t, uint64_t pc);
void hd_heap_tell(uint64_t addr);       // sends the block that contains addr, if its allocation was recorded
void hd_heap_begin(void);               // called when an execution begins
void hd_heap_save(void);
void hd_heap_restore(bool faulted);
void hd_heap_open_all(void); // called before a limit on data, which would keep the heap from growing
// Looks for races of a use of memory that is gone, which ends the execution, and sends its event.
HD_COLD void hd_gone_event(uint64_t p, uint32_t size, bool write, uint64_t pc);
// Ends the execution with the access to memory that hd_freed reports.
_Noreturn HD_COLD void hd_heap_bad_access(uintptr_t a, uint32_t size, bool write, uint64_t pc);
#define HD_HEAP_BASE 0x200000000000ull
extern HD_OWN uint8_t *hd_heap_shadow; // a byte for each 16 bytes: HD_SH_*
enum { HD_SH_NONE = 0, HD_SH_LIVE = 1, HD_SH_FREED = 2, HD_SH_HEADER = 3 };
// Whether the memory at p is gone: freed, or of a thread that has ended.
static inline bool hd_freed(uint64_t p) {
  uint64_t off = p - hd_heap_base;
  return HD_UNLIKELY(off < hd_heap_used && hd_heap_shadow[off >> 4] == HD_SH_FREED) || hd_thread_gone(p);
}

// ---- malloc.c
void *hd_alloc(uint64_t size, uint64_t align, uint64_t pc); // as malloc, called at pc
void *hd_alloc_own(uint64_t size, uint64_t pc);            // a block of the runtime's for a call at pc
void hd_release(void *p, uint64_t pc);                     // as free
void hd_block_begins(const void *p, uint64_t size, uint64_t pc); // a library's own allocator has allocated p
void hd_mapping_begins(void *p, uint64_t size, uint64_t pc); // the kernel has mapped zeroed memory of the program's
#endif
