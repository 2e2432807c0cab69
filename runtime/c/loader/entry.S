// entry.S: functions of the loader that look at who called them.
	.text

// The call goes on, unchanged, where hd_loader_entry says.
	.macro	entry name, number
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	movl	$\number, %eax
	jmp	enter
	.cfi_endproc
	.size	\name, . - \name
	.endm

	entry	dlopen, 0
	entry	dlmopen, 1
	entry	dlsym, 2

	.type	enter, @function
enter:	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movl	%eax, %edi
	movq	24(%rsp), %rsi
	call	hd_loader_entry
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	enter, . - enter

// Calls function(a, b) so that it sees ret, the address of a return instruction, as the
// place that it returns to.
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
