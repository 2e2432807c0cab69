// side_stack.S: calls on the running thread's side stack (core/side_stack.h).
	.text

// Continues at the function in rax, whose arguments are in registers, on the side stack; there the
// program's stack pointer and frame pointer lie below hd_side_top. On the side stack already, or without
// one, it is a jump.
//
// Returns with the registers for arguments as they were: a function with variable arguments stores them on the
// stack whether it was given so many or not.
	.globl	hd_side_call
	.hidden	hd_side_call
	.type	hd_side_call, @function
hd_side_call:
	.cfi_startproc
	movq	%rsp, %r11
	subq	hd_side_lo(%rip), %r11
	cmpq	hd_side_size(%rip), %r11
	jb	1f
	movq	hd_side_top(%rip), %r11
	testq	%r11, %r11
	je	1f
	movq	%rsp, -8(%r11)
	movq	%rbp, -16(%r11)
	movq	%r11, %rbp
	// The canonical frame address is *(rbp - 8) + 8; the caller's rbp is at rbp - 16.
	.cfi_escape 0x0f, 5, 0x76, 0x78, 0x06, 0x23, 0x08
	.cfi_escape 0x10, 6, 2, 0x76, 0x70
	movq	%rdi, -24(%r11)
	movq	%rsi, -32(%r11)
	movq	%rdx, -40(%r11)
	movq	%rcx, -48(%r11)
	movq	%r8, -56(%r11)
	movq	%r9, -64(%r11)
	movaps	%xmm0, -80(%r11)
	movaps	%xmm1, -96(%r11)
	movaps	%xmm2, -112(%r11)
	movaps	%xmm3, -128(%r11)
	movaps	%xmm4, -144(%r11)
	movaps	%xmm5, -160(%r11)
	movaps	%xmm6, -176(%r11)
	movaps	%xmm7, -192(%r11)
	movq	%rbx, -200(%r11)
	movq	%r12, -208(%r11)
	movq	%r13, -216(%r11)
	movq	%r14, -224(%r11)
	movq	%r15, -232(%r11)
	leaq	-240(%r11), %rsp
	call	*%rax
	movq	-24(%rbp), %rdi
	movq	-32(%rbp), %rsi
	movq	-40(%rbp), %rdx
	movq	-48(%rbp), %rcx
	movq	-56(%rbp), %r8
	movq	-64(%rbp), %r9
	movaps	-80(%rbp), %xmm0
	movaps	-96(%rbp), %xmm1
	movaps	-112(%rbp), %xmm2
	movaps	-128(%rbp), %xmm3
	movaps	-144(%rbp), %xmm4
	movaps	-160(%rbp), %xmm5
	movaps	-176(%rbp), %xmm6
	movaps	-192(%rbp), %xmm7
	movq	-8(%rbp), %rsp
	movq	-16(%rbp), %rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
1:	jmp	*%rax
	.cfi_endproc
	.size	hd_side_call, . - hd_side_call

	.bss
	.balign	8
	.globl	hd_side_lo, hd_side_size, hd_side_top
	.hidden	hd_side_lo, hd_side_size, hd_side_top
hd_side_lo:
	.skip	8
hd_side_size:
	.skip	8
hd_side_top:
	.skip	8

	.section .note.GNU-stack,"",@progbits
