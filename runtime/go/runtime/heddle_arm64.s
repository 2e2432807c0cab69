//go:build heddle

#include "textflag.h"

// func hdFutexCall(word *uint32, op uintptr, value uint32, timeout *timespec)
TEXT ·hdFutexCall(SB), NOSPLIT, $0-32
	MOVD	word+0(FP), R0
	MOVD	op+8(FP), R1
	MOVWU	value+16(FP), R2
	MOVD	timeout+24(FP), R3
	MOVD	$98, R8
	SVC
	RET

// func hdSystem(number, a, b, c, d uintptr) uintptr: a fifth argument is 0
TEXT ·hdSystem(SB), NOSPLIT, $0-48
	MOVD	number+0(FP), R8
	MOVD	a+8(FP), R0
	MOVD	b+16(FP), R1
	MOVD	c+24(FP), R2
	MOVD	d+32(FP), R3
	MOVD	$0, R4
	SVC
	MOVD	R0, ret+40(FP)
	RET
