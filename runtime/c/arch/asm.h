// asm.h: the architecture's assembler macros (arch.h).
#if defined __x86_64__
#include "arch/x86_64/asm.h"
#endif
