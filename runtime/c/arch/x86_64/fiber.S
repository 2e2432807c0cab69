// fiber.S: switching stacks. A suspended fiber's stack holds, from its saved stack
// pointer up: the SSE and x87 control words, r15 r14 r13 r12 rbx rbp, the return address.
// Control words belong to a thread. A call may change all other registers, by the ABI.
#include "arch/x86_64/asm.h"
	.text

	.globl	hd_fiber_switch
	.hidden	hd_fiber_switch
	.type	hd_fiber_switch, @function
hd_fiber_switch:                        // (void **save_sp, void *load_sp)
	.cfi_startproc
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	jmp	load
	.cfi_endproc
	.size	hd_fiber_switch, . - hd_fiber_switch

	.globl	hd_fiber_jump
	.hidden	hd_fiber_jump
	.type	hd_fiber_jump, @function
hd_fiber_jump:                          // (void *load_sp), does not return
	.cfi_startproc
	movq	%rdi, %rsi
load:
	movl	(%rsi), %eax
	movzwl	4(%rsi), %ecx
	movq	%rsi, %rsp
	subq	$8, %rsp                // load only if different: ldmxcsr serialises
	stmxcsr	(%rsp)
	cmpl	(%rsp), %eax
	je	1f
	ldmxcsr	(%rsi)
1:	fnstcw	(%rsp)
	cmpw	(%rsp), %cx
	je	2f
	fldcw	4(%rsi)
2:	addq	$16, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.cfi_endproc
	.size	hd_fiber_jump, . - hd_fiber_jump

// The bottom frame of every fiber: unwinders stop here.
	.globl	hd_fiber_entry
	.hidden	hd_fiber_entry
	.type	hd_fiber_entry, @function
hd_fiber_entry:
	.cfi_startproc
	.cfi_undefined rip
	xorl	%ebp, %ebp
	call	*%rbx
	ud2
	.cfi_endproc
	.size	hd_fiber_entry, . - hd_fiber_entry

// Code of the program begins here.
	.globl	hd_call_below
	.hidden	hd_call_below
	.type	hd_call_below, @function
hd_call_below:                          // (sp, f, a, b, c)
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	movq	%rdi, %rsp
	andq	$-16, %rsp
	movq	%rsi, %rax
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	movq	%r8, %rdx
	clear_registers
	call	*%rax
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	hd_call_below, . - hd_call_below

	.section .note.GNU-stack,"",@progbits
