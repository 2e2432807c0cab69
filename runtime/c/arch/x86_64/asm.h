// asm.h: assembler macros for functions that C cannot express. The rooms' .S files instantiate
// them with functions of their own room.

// A function of libc that returns twice. before receives its arguments and returns libc's function.
	.macro	returns_twice name, before
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	\before
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

// Before code of the program with at most three arguments begins: a function with variable arguments would store what
// the runtime has left in the registers for others.
	.macro	clear_registers
	xorl	%ecx, %ecx
	xorl	%r8d, %r8d
	xorl	%r9d, %r9d
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	pxor	%xmm\i, %xmm\i
	.endr
	.endm

// Another name of a function. It jumps, so the function sees the original caller.
	.macro	same name, as
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	jmp	\as@PLT
	.cfi_endproc
	.size	\name, . - \name
	.endm

// A function that depends on its caller: the call continues, unchanged, at the address that the
// function given to enter returns for (number, return address).
	.macro	entry name, number
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	movl	$\number, %eax
	jmp	enter
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	enter_by function
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
	call	\function
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	enter, . - enter
	.endm

// A function that passes a record of itself (name, a field for the address of libc's function,
// argument) and its return address to the function given to hooks_by, and then continues at the
// address that this function returns, with unchanged arguments.
	.macro	hooked name, argument=0
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	leaq	.Lrecord_\name(%rip), %rax
	jmp	hook
	.cfi_endproc
	.size	\name, . - \name
	.pushsection .data.rel.local, "aw"
	.balign	8
.Lrecord_\name:
	.quad	.Lname_\name
	.quad	0
	.quad	\argument
	.popsection
	.pushsection .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
	.asciz	"\name"
	.popsection
	.endm

	.macro	hooks_by function
	.type	hook, @function
hook:	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	movq	56(%rsp), %rsi
	call	\function
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%rax, %r11
	xorl	%eax, %eax              // variadic callees: no vector arguments
	jmp	*%r11
	.cfi_endproc
	.endm

	.section .note.GNU-stack,"",@progbits
