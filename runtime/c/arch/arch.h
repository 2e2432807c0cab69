// arch.h: what an architecture must provide. Each has a folder beside this file:
//   inline.h    the inline functions named below, and the constants
//   context.h   access to the registers that the kernel saved for a signal handler
//   asm.h       macros for functions that C cannot express; rooms instantiate them
//   *.S, *.c    the functions declared here and in context.h
// No other file of the runtime contains assembler or names a register.
//
// inline.h:
//   hd_sys6, hd_sys4, hd_sys       system calls without libc: -errno on failure. A hook may run
//                                  where libc cannot be used: before its constructors, while a
//                                  fiber holds its locks, in a signal handler
//   hd_syscall_at                  the system call instruction that they call, followed by a return; NULL: they contain it
//   hd_copy, hd_copy_down, hd_fill inline copies and fills: a call would be intercepted as the program's
//   hd_word_or                     a load that returns a given value if the address is not mapped
//   hd_writable                    whether a byte of the program's memory can be written; it stays as it is
//   hd_set_fs, hd_fs               the thread pointer, which is what pthread_self returns
//   hd_set_guard                   sets the stack protector's value of a thread
//   hd_step_begin                  single steps of the running code from here on (context.h)
//   HD_REGISTERS_KEPT, HD_LEAVE_REGISTERS  make a function return with chosen contents of the registers for arguments
//   HD_SIDE_ENTRY                  the code that changes to the side stack
//   hd_pause                       a hint to the processor in a spinning loop
//   hd_wide_cas                    a 16-byte compare-and-swap
//   hd_jump_sp                     the stack pointer in a jmp_buf of glibc's
//   HD_RETURN_BYTE, HD_CALL_SIZE   a return instruction; minimum size of a call instruction in bytes
//   HD_SYSCALL_RET                 the bytes of a system call instruction followed by a return
//   HD_DWARF_*                     DWARF's numbers of the stack pointer, the return address and the registers that calls preserve
//   hd_is_syscall                  whether two bytes are a system call instruction
#ifndef HD_ARCH_ARCH_H
#define HD_ARCH_ARCH_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#if defined __x86_64__
#include "arch/x86_64/inline.h"
#else
#error "heddle's runtime exists for x86-64 only"
#endif

// Saves the running fiber's registers on its stack, stores its stack pointer and continues
// another fiber. Each fiber has its own floating-point control words.
void hd_fiber_switch(void **save_sp, void *load_sp);
_Noreturn void hd_fiber_jump(void *load_sp); // the same without saving
// Creates a frame below sp so that the first switch to it calls entry. Unwinders stop there.
// inherit: use the caller's floating-point control words, otherwise those of a new process.
// Returns the stack pointer to switch to.
void *hd_fiber_frame(uintptr_t sp, void (*entry)(void), bool inherit);

// Returns f(a, b, c), called with its stack below sp, which must lie below the caller's. Unwinders
// pass through.
uint64_t hd_call_below(uintptr_t sp, void *f, uint64_t a, uint64_t b, uint64_t c);

// A function that runs on the running thread's side stack (core/side_stack.h), with up to six arguments:
//   HD_ON_SIDE_STACK(void, hd_point, (struct hd_thread *t)) { … }
// The name is that of the code that changes stacks; the body has a name of its own. The registers for arguments
// are unchanged when it returns.
#define HD_ON_SIDE_STACK(ret, name, parameters) \
  HD_SIDE_ENTRY(name); \
  __attribute__((visibility("hidden"))) ret name parameters; \
  __attribute__((visibility("hidden"), used)) ret name##_side parameters; \
  ret name##_side parameters
extern uintptr_t hd_side_lo, hd_side_size; // all side stacks; 0, 0: none exist
extern uintptr_t hd_side_top; // where the running thread's next call on its side stack begins; 0: it has none

// Calls f(sig, info, context) on another stack of the program. A fault here counts as the program's.
void hd_call_on(uintptr_t stack, void *f, int sig, void *info, void *context);
// Calls function(a, b) with ret, the address of a return instruction, as its return address.
void *hd_call_from(uint64_t ret, void *function, const void *a, long b);
// Calls f(a, b, c, d, saved). At saved lie the registers that a call preserves, followed by the caller's stack.
typedef void hd_registers_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, const uint64_t *saved);
void hd_with_registers(uint64_t a, uint64_t b, uint64_t c, uint64_t d, hd_registers_function *f);
#endif
