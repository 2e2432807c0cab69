// jump.S: __sigsetjmp, which returns twice and so cannot be a C function around libc's.
	.text
	.globl	__sigsetjmp
	.type	__sigsetjmp, @function
__sigsetjmp:                            // (struct jump *env, int save)
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	hd_before_sigsetjmp
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	__sigsetjmp, . - __sigsetjmp

// Calls f(sig, info, context) on another stack, which is the program's: a fault here is, too.
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
	call	*%rax
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	hd_call_on, . - hd_call_on

	.text
// Goes back to where a fault was: the kernel takes all registers from the context.
	.globl	hd_resume
	.hidden	hd_resume
	.type	hd_resume, @function
hd_resume:                              // (ucontext_t *)
	.cfi_startproc
	.cfi_undefined rip
	movq	%rdi, %rsp
	movl	$15, %eax               // rt_sigreturn
	syscall
	ud2
	.cfi_endproc
	.size	hd_resume, . - hd_resume

	.section .note.GNU-stack,"",@progbits
