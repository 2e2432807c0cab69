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

	.section .note.GNU-stack,"",@progbits
