// heddle: Option pricing in the shape of PARSEC's blackscholes: workers price their options in rounds with a barrier, the first of them sets the next round's volatility.
//   No barrier keeps the others from beginning the next round before it is set.
// kind: assertion
// finding: main
// minimum: switches=8 preemptions=0
// why: Let A be the first worker, B one that begins round 2 before A has set the volatility, C the
//   third. Main runs first and last. A arrives at barrier 1 before B begins round 2 and sets the
//   volatility after, so it has two intervals. B begins round 2 before that and leaves barrier 2
//   after A has arrived there: two. C arrives at barrier 1 before, leaves barrier 2 after:
//   two, and three unless it arrives last at one of the barriers. But then B is not the last at
//   barrier 1, or A not the last at barrier 2, and has one more. So 2 + 7 intervals, and
//   A C B C A B C shows that no preemption is needed.
#define SEEDED
#include "../option_pricing.c"
