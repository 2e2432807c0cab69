// heddle: Cancellation as in cancel.c, with handlers in exception tables instead of setjmp.
// kind: clean
// flags: -fexceptions
#include "cancel.c"
