// assembly_hooks.h: what the calls that internal/toolchain/inlineasm puts around instructions of inline assembly pass on.
// Both runtimes include it, in C and in assembler.
#ifndef HEDDLE_ASSEMBLY_HOOKS_H
#define HEDDLE_ASSEMBLY_HOOKS_H

#ifndef __ASSEMBLER__
#include <stdint.h>

// The word that describes an instruction; inlineasm has the same numbers.
enum hd_assembly {
  HD_ASSEMBLY_SIZE = 0x1f, // bytes of the operand
  HD_ASSEMBLY_LOAD = 0, HD_ASSEMBLY_STORE = 0x100, HD_ASSEMBLY_RMW = 0x200, HD_ASSEMBLY_CAS = 0x300, HD_ASSEMBLY_FENCE = 0x400,
  HD_ASSEMBLY_KIND = 0x700,
  HD_ASSEMBLY_TLS = 0x1000,    // the address is relative to the thread pointer
  HD_ASSEMBLY_BIT = 0x2000,    // a register selects the bit of a string of bits: it comes after the word
  HD_ASSEMBLY_PLAIN = 0x4000,  // neither locked nor an exchange
  HD_ASSEMBLY_WIDE = 0x8000,   // cmpxchg8b, cmpxchg16b: edx:eax or rdx:rax are compared
};

// The program's registers when a hook is called, and what the call has put on the stack. rdi lies there, too.
struct hd_assembly_frame {
  uint64_t rbp, r11, r10, r9, r8, rsi, rdx, rcx, rax, flags;
  uint64_t ret;
  // Of the call before the instruction only:
  uint64_t word;
  uint64_t more[2]; // rdi; with HD_ASSEMBLY_BIT the bit's number, and rdi
};

// Returns the address of the instruction's operand. The number of a bit counts from the operand's beginning on and may be
// negative.
static inline uint64_t hd_assembly_address(uint64_t address, const struct hd_assembly_frame *f) {
  uint32_t size = f->word & HD_ASSEMBLY_SIZE;
  if (f->word & HD_ASSEMBLY_TLS) {
    uint64_t thread;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(thread));
    address += thread;
  }
  if (f->word & HD_ASSEMBLY_BIT) {
    uint64_t bit = f->more[0];
    int64_t n = size == 2 ? (int16_t)bit : size == 4 ? (int32_t)bit : (int64_t)bit;
    address += (uint64_t)((n >> (size == 2 ? 4 : size == 4 ? 5 : 6)) * (int64_t)size);
  }
  return address;
}

#else

// Calls function(rdi, frame). Inline assembly is free to use all registers, and what a compiler keeps in them is not known, so the
// flags, the registers that calls may change, and the vector registers are as they were. PKRU belongs to the kernel thread.
	.macro	keeps_registers name, function
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	pushfq
	.cfi_adjust_cfa_offset 8
	.irp	register, rax, rcx, rdx, rsi, r8, r9, r10, r11, rbp
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endr
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	cld
	pushq	%rdi
	pushq	%rdi
	cmpb	$0, assembly_state(%rip)
	jne	1f
	pushq	%rbx
	subq	$8, %rsp
	movl	$1, %eax                // OSXSAVE, without which there is only what fxsave saves
	xorl	%ecx, %ecx
	cpuid
	shrl	$27, %ecx
	andl	$1, %ecx
	incl	%ecx
	movb	%cl, assembly_state(%rip)
	addq	$8, %rsp
	popq	%rbx
1:	movq	-8(%rbp), %rdi
	leaq	-16(%rbp), %rsp
	subq	$2816, %rsp
	andq	$-64, %rsp
	cmpb	$2, assembly_state(%rip)
	jne	2f
	clear_header
	movl	$0xe7, %eax             // x87, SSE, AVX, AVX-512
	xorl	%edx, %edx
	xsave64	(%rsp)
	jmp	3f
2:	fxsave64 (%rsp)
3:	movq	%rbp, %rsi
	call	\function
	cmpb	$2, assembly_state(%rip)
	jne	4f
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	5f
4:	fxrstor64 (%rsp)
5:	movq	-8(%rbp), %rdi
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	.irp	register, rbp, r11, r10, r9, r8, rsi, rdx, rcx, rax
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	.cfi_restore %rbp
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

// xsave leaves parts of its header as they are, and xrstor wants them zero.
	.macro	clear_header
	xorl	%eax, %eax
	.irp	word, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rax, \word(%rsp)
	.endr
	.endm

// The two hooks. assembly_state tells whether the processor has xsave and the system lets it: 0 not known, 1 no, 2 yes.
	.macro	assembly_hooks before, after
	.text
	keeps_registers heddle_assembly_before, \before
	keeps_registers heddle_assembly_after, \after
	.local	assembly_state
	.comm	assembly_state, 1, 1
	.section .note.GNU-stack,"",@progbits
	.endm
#endif
#endif
