// heddle: Option pricing in the shape of PARSEC's blackscholes: workers price their options in rounds with a barrier, the first of them sets the next round's volatility.
// kind: clean
#include "../option_pricing.c"
