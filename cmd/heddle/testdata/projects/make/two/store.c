// heddle's tests: what is put in between enter and leave. The other store.c has the same code on
// earlier lines.
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
static long stock;

static void (*enter)(void);
static void (*leave)(void);

void two_open(void (*e)(void), void (*l)(void)) {
  enter = e;
  leave = l;
}

void two_put(long n) {
  enter();
  stock = stock + n;
  leave();
}

long two_stock(void) { return stock; }
