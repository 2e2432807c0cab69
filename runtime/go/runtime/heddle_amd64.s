//go:build heddle

#include "textflag.h"

// func hdFutexCall(word *uint32, op uintptr, value uint32, timeout *timespec)
TEXT ·hdFutexCall(SB), NOSPLIT, $0-32
	MOVQ	word+0(FP), DI
	MOVQ	op+8(FP), SI
	MOVL	value+16(FP), DX
	MOVQ	timeout+24(FP), R10
	MOVQ	$202, AX
	SYSCALL
	RET

// func hdSystem(number, a, b, c, d uintptr) uintptr: a fifth argument is 0
TEXT ·hdSystem(SB), NOSPLIT, $0-48
	MOVQ	number+0(FP), AX
	MOVQ	a+8(FP), DI
	MOVQ	b+16(FP), SI
	MOVQ	c+24(FP), DX
	MOVQ	d+32(FP), R10
	XORL	R8, R8
	SYSCALL
	MOVQ	AX, ret+40(FP)
	RET
