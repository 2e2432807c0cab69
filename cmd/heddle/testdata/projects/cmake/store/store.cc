#include "store.h"
#include "item.h"

static item bolts;

void deliver(int n, bool locked) { bolts.add(n, locked); }
int stock() { return bolts.count; }
