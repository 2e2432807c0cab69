#include "ledger.h"

long sum(long a, long b) { return a + b; }
