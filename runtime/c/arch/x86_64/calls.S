// calls.S: calls on another stack or from another place, and the return from a signal.
#include "arch/x86_64/asm.h"

// Calls f(sig, info, context) on another stack of the program. A fault here counts as the program's.
	.section hd_progaccess, "ax", @progbits
	.globl	hd_call_on
	.hidden	hd_call_on
	.type	hd_call_on, @function
hd_call_on:                             // (stack, f, sig, info, context)
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	movq	%rdi, %rsp
	movq	%rsi, %rax
	movl	%edx, %edi
	movq	%rcx, %rsi
	movq	%r8, %rdx
	clear_registers
	call	*%rax
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	hd_call_on, . - hd_call_on

	.text
// Resumes at the faulting instruction: the kernel loads all registers from the context.
	.globl	hd_context_resume
	.hidden	hd_context_resume
	.type	hd_context_resume, @function
hd_context_resume:                              // (ucontext_t *)
	.cfi_startproc
	.cfi_undefined rip
	movq	%rdi, %rsp
	jmp	*hd_sigreturn_at(%rip)
	.cfi_endproc
	.size	hd_context_resume, . - hd_context_resume


// Calls function(a, b) with ret, the address of a return instruction, as its return address.
	.globl	hd_call_from
	.hidden	hd_call_from
	.type	hd_call_from, @function
hd_call_from:                           // (uint64_t ret, void *function, const void *a, long b)
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$8, %rsp
	leaq	1f(%rip), %rax
	pushq	%rax
	pushq	%rdi
	movq	%rsi, %rax
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	jmp	*%rax
1:	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	hd_call_from, . - hd_call_from

// Calls f(a, b, c, d, saved); from saved on lie the registers that calls preserve, and then the caller's stack.
	.globl	hd_with_registers
	.hidden	hd_with_registers
	.type	hd_with_registers, @function
hd_with_registers:                      // (a, b, c, d, f)
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	movq	%r8, %rax
	movq	%rsp, %r8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	*%rax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	popq	%r14
	.cfi_adjust_cfa_offset -8
	popq	%r13
	.cfi_adjust_cfa_offset -8
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	hd_with_registers, . - hd_with_registers

	.section .note.GNU-stack,"",@progbits
