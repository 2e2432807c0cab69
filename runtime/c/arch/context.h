// context.h: what an architecture must provide for signal handlers: access to the registers that
// the kernel saved, by their purpose.
#ifndef HD_ARCH_CONTEXT_H
#define HD_ARCH_CONTEXT_H
#include <signal.h>
#include <ucontext.h>
#include "arch/arch.h"

uint64_t hd_context_pc(const ucontext_t *c);
uint64_t hd_context_sp(const ucontext_t *c);
void hd_context_set(ucontext_t *c, uint64_t pc, uint64_t sp);
// Makes the handler's return call f(arg) on the empty stack that ends at top.
void hd_context_call(ucontext_t *c, void *f, void *arg, uintptr_t top);
// If the load of hd_word_or faulted, continues behind it. False: the fault was elsewhere.
bool hd_context_fix_up(ucontext_t *c);

// Return the time-stamp counter; return the size of an instruction that reads it, 0 for any other
// instruction; complete such an instruction with a value. The size is always 0 on an architecture
// whose programs cannot read a counter.
uint64_t hd_timestamp_now(void);
uint64_t hd_timestamp_size(const uint8_t code[3]);
void hd_context_timestamp(ucontext_t *c, uint64_t size, uint64_t value);

// Makes the kernel trap (SIGTRAP) before each instruction of the interrupted code, or no longer.
void hd_context_step(ucontext_t *c, bool on);
// Where the instruction at pc goes. Reads no byte behind it.
enum hd_flow {
  HD_FLOW_ON,     // to the next instruction, or by a jump to code that may be of the same function
  HD_FLOW_LINK,   // by a jump to another function, or on towards one: the code that links calls between modules
  HD_FLOW_CALL,
  HD_FLOW_LEAVES, // it returns, or traps into the kernel
};
enum hd_flow hd_context_flow(uint64_t pc);

// Part of a context lies outside ucontext_t (floating-point state). hd_context_extra returns its size
// in bytes; hd_context_copy copies it to an address aligned to 64.
uint64_t hd_context_extra(const ucontext_t *c);
void hd_context_copy(ucontext_t *to, const ucontext_t *from, uintptr_t extra);
enum { HD_RED_ZONE = 128 }; // bytes that a function may use below its stack pointer
_Noreturn void hd_context_resume(ucontext_t *c); // all registers come from c

// The code to which a signal handler returns.
extern void hd_sigreturn(void);
extern void *hd_sigreturn_at; // that, or libc's

// An intercepted system call: returns its number; sets the result that it returns after the handler.
long hd_context_syscall(const ucontext_t *c, long arguments[6]);
void hd_context_result(ucontext_t *c, long result);
#endif
