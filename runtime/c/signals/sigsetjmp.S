// sigsetjmp.S: __sigsetjmp, which returns twice and so cannot be a C function around libc's.
#include "arch/asm.h"
	.text
	returns_twice __sigsetjmp, hd_before_sigsetjmp
	same	sigsetjmp, __sigsetjmp
