// fiber.h: what a thread of the program runs on: a fiber on the carrier or, under a debugger,
// a kernel thread of its own.
#ifndef HD_CORE_FIBER_H
#define HD_CORE_FIBER_H
#include "core/run.h"

// A host thread: a parked kernel thread whose stack and thread control block a fiber borrows.
struct hd_host {
  uintptr_t fs;       // its FS base
  uintptr_t lo, hi;   // its stack
  uintptr_t sp;       // where a fiber may start
  uint32_t state;     // 0 starting, 1 parked
  uint32_t park;      // futex; kernel_threads.c: 1 when this thread may run
  void *base;         // kernel_threads.c: the stack pointer of its own frames, below the program's
  struct hd_thread *next; // kernel_threads.c: the thread to run once this one is back at base
  bool used;          // ran a fiber in this execution
  struct hd_thread *owner; // the thread that uses it now; NULL: free
};
extern struct hd_host *hd_hosts;
extern uint32_t hd_nhosts;
extern struct hd_host *hd_early_host;   // reserved for main's next thread (threads/before_main.c)
// Base address of the threads' stacks, which are consecutive. Programs store addresses of their
// stacks, so these must not depend on the isolation. Addresses chosen by the kernel would depend
// on it, because they depend on the runtime's mappings.
#define HD_STACKS_BASE 0x210000000000ull
#define HD_GUARD 0x6865646c64736700ull // the stack protector's value, which is the same in each process
void hd_hosts_make(uint32_t n);         // creates and parks kernel threads; must run before the snapshot
struct hd_host *hd_host_get(void);      // returns a host not used in this execution; NULL if none is left
void hd_fiber_start(struct hd_thread *t, uintptr_t sp, void (*entry)(void)); // t starts in entry, which must not return
uintptr_t hd_stack_hi(const struct hd_thread *t); // 0 for a pseudo-thread, which runs no code
// ---- stack_limit.c
enum { HD_STACK_GUARD = 1 << 20 };           // bytes below a stack that cannot be accessed
uint64_t hd_default_stack(void);             // that libc gives a thread
uint64_t hd_stack_mapped(uint64_t native);   // size of the stack of a thread that natively has one of that size
uintptr_t hd_stack_lo(const struct hd_thread *t);
void hd_stack_limit(struct hd_thread *t, uint64_t native); // t's stack has native bytes natively
_Noreturn HD_COLD void hd_stack_overflow(uint64_t pc);     // of the running thread
extern bool hd_stack_handled;           // the program handles SIGSEGV, and so its overflows: they are to fault
extern uintptr_t hd_main_low;           // the lowest address of main's stack
extern uint64_t hd_main_stack;          // its native size
extern uintptr_t hd_main_sp;            // the program's main starts below this address
extern uintptr_t hd_main_fs;

// ---- kernel_threads.c: every thread on a kernel thread of its own, one of which runs at a time
extern HD_OWN bool hd_threads_real;
extern HD_OWN uint64_t hd_kernel_mask;  // signals that each of these kernel threads blocks
void hd_hand_over(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_hand_over_leave(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_seat_wait(struct hd_host *d); // the loop of a host's own thread
static inline void hd_switch(struct hd_thread *from, struct hd_thread *to) {
  if (HD_UNLIKELY(hd_threads_real)) { hd_hand_over(from, to); return; }
  hd_set_fs(to->fs);
  hd_fiber_switch(&from->sp, to->sp);
}
static inline _Noreturn void hd_switch_leave(struct hd_thread *from, struct hd_thread *to) {
  if (HD_UNLIKELY(hd_threads_real)) hd_hand_over_leave(from, to);
  hd_set_fs(to->fs);
  hd_fiber_jump(to->sp);
}
#endif
