// heddle: Many threads publish a value in two critical sections, and one reads it in two, within a lock of both.
// kind: clean
#include "../two_stage.c"
