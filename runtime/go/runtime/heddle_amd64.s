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
