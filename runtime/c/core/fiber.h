// fiber.h: what a thread of the program runs on: a fiber on the carrier, or a kernel thread
// of its own for a debugger's sake.
#ifndef HD_CORE_FIBER_H
#define HD_CORE_FIBER_H
#include "core/run.h"

// A host thread: a real, parked pthread, whose stack and thread control block fibers borrow.
struct hd_host {
  uintptr_t fs;       // its FS base
  uintptr_t lo, hi;   // its stack
  uintptr_t sp;       // where a fiber may start
  uint32_t state;     // 0 being made, 1 parked
  uint32_t park;      // futex; kernel_threads.c: 1 when it is this one's turn
  void *base;         // kernel_threads.c: where its own thread stands beneath the program's frames
  struct hd_thread *next; // kernel_threads.c: whose turn it is once this thread is back there
  bool used;          // ran a fiber in this execution
  struct hd_thread *owner; // thread that has it now, NULL: free
};
extern struct hd_host *hd_hosts;
extern uint32_t hd_nhosts;
extern struct hd_host *hd_early_host;   // to be used for main's next thread (threads/before_main.c)
// Where the stacks of threads are, one behind the other. The kernel's choice would depend on
// what the runtime has mapped, which is not the same under each isolation, and programs store
// addresses of their stacks.
#define HD_STACKS_BASE 0x210000000000ull
void hd_hosts_make(uint32_t n);         // real threads, parked; before the snapshot
struct hd_host *hd_host_get(void);      // one that has not been used in this execution, NULL if none exists
void hd_fiber_start(struct hd_thread *t, uintptr_t sp, void (*entry)(void)); // t begins in entry, which must not return
uint64_t hd_default_stack(void);
uintptr_t hd_stack_hi(const struct hd_thread *t); // 0 for what runs no code
extern uintptr_t hd_main_sp;            // program main starts below this
extern uintptr_t hd_main_fs;

// ---- kernel_threads.c: each thread on a kernel thread of its own, of which one runs
extern bool hd_threads_real;
void hd_hand_over(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_hand_over_leave(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_seat_wait(struct hd_host *d); // a host's own thread, for good
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
