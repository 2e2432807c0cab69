// injection.h: injection of one fault into an execution, as the plan says (enum hd_fault_model).
#ifndef HD_CORE_INJECTION_H
#define HD_CORE_INJECTION_H
#include "core/run.h"

void hd_inject_begin(void); // called when an execution begins
// The plan's fault, until it has been injected; HD_FAULT_NONE otherwise.
extern uint32_t hd_injectable;
// Counts an occasion of the running thread, at the instruction that its event has. Returns true once, for the
// one that the plan means: the caller then does what the fault is.
bool hd_inject_due(uint64_t pc);
static inline bool hd_injects(uint32_t model, uint64_t pc) { return HD_UNLIKELY(hd_injectable == model) && hd_inject_due(pc); }
// The bytes that the running thread is about to read or write; called before the access is an event.
void hd_inject_reads(uint64_t addr, uint64_t size, uint64_t pc);
void hd_inject_writes(uint64_t addr, uint64_t size, uint64_t pc);
// An access has a flipped bit and is not complete: what was flipped for a read is to be restored, what it
// writes to be flipped.
extern bool hd_inject_open;
void hd_inject_close(void); // the access is complete, or nothing can tell when it is
void hd_inject_drop(void);  // it faulted
// The running thread's next event is a read of [addr, addr + size). Ends what is open, unless the read is that of
// a structure's copy whose write is open.
void hd_inject_next(uint64_t addr, uint64_t size);
// The hook of the access has done its work: the access comes as soon as it returns. The thread is executed by single
// steps until then.
void hd_inject_arm(void);
bool hd_inject_step(void *context); // SIGTRAP: a single step (ucontext_t); false: it was not asked for
// Around a call that makes its accesses events before libc, or the runtime, makes them.
extern bool hd_inject_calling;
void hd_inject_call_begins(void);
void hd_inject_call_ends(void);
static inline void hd_inject_call(void) {
  if (HD_UNLIKELY(hd_injectable || hd_inject_open)) hd_inject_call_begins();
}
static inline void hd_inject_called(void) {
  if (HD_UNLIKELY(hd_inject_calling)) hd_inject_call_ends();
}
// The same at a call that copies n bytes, or sets them (src NULL): the compiler may have announced what it copies.
void hd_inject_copy(const void *dst, const void *src, uint64_t n);
// Set while reads that were made before become events; no fault is injected into these.
extern bool hd_inject_late;
// Ends the running thread, if its access is the one.
void hd_inject_kills(uint64_t pc);
// Where HD_FAULT_POINTER says that a block is.
#define HD_FAULT_NOWHERE ((void *)0x10)
// A size that the program passes to an allocation, or to memcpy, memmove, memset, strncpy and stpncpy.
uint64_t hd_inject_allocated(uint64_t size, uint64_t pc);
uint64_t hd_inject_length(uint64_t n, uint64_t pc);
// How many bytes more a call copies than the n > 0 that its arguments mean.
uint64_t hd_inject_more(uint64_t pc);
#endif
