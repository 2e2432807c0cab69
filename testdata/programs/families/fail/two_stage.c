// heddle: Many threads publish a value in two critical sections, and one reads it in two.
// kind: assertion
// finding: d == s + 1
#define SEEDED
#include "../two_stage.c"
