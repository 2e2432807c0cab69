// context.h: what an architecture must provide for signal handlers: the registers that the
// kernel saved, by what they are for.
#ifndef HD_ARCH_CONTEXT_H
#define HD_ARCH_CONTEXT_H
#include <signal.h>
#include <ucontext.h>
#include "arch/arch.h"

uint64_t hd_context_pc(const ucontext_t *c);
uint64_t hd_context_sp(const ucontext_t *c);
void hd_context_set(ucontext_t *c, uint64_t pc, uint64_t sp);
// Makes the handler's return call f(arg) on the stack that ends at top, as if nothing were on it.
void hd_context_call(ucontext_t *c, void *f, void *arg, uintptr_t top);
// At a load of hd_word_or's that faulted: goes on behind it. False: the fault was elsewhere.
bool hd_context_fix_up(ucontext_t *c);

// The time-stamp counter; the size of an instruction that reads it, 0 if code is another one; the
// completion of such an instruction with a value. An architecture whose programs cannot read a
// counter returns 0.
uint64_t hd_timestamp_now(void);
uint64_t hd_timestamp_size(const uint8_t code[3]);
void hd_context_timestamp(ucontext_t *c, uint64_t size, uint64_t value);

// A context has a part that lies outside of ucontext_t (floating-point state): extra bytes,
// which hd_context_copy copies to an address aligned to 64.
uint64_t hd_context_extra(const ucontext_t *c);
void hd_context_copy(ucontext_t *to, const ucontext_t *from, uintptr_t extra);
enum { HD_RED_ZONE = 128 }; // bytes that a function may use below its stack pointer
_Noreturn void hd_context_resume(ucontext_t *c); // all registers come from c

// The code that a handler of the kernel's returns to.
extern void hd_sigreturn(void);
extern void *hd_sigreturn_at; // that, or libc's

// A system call that the kernel caught: its number, and its result for when the handler returns.
long hd_context_syscall(const ucontext_t *c, long arguments[6]);
void hd_context_result(ucontext_t *c, long result);
#endif
