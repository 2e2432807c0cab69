struct ledger;
struct ledger *ledger_open(int locked);
void ledger_add(struct ledger *, long amount);
long ledger_total(const struct ledger *);
long sum(long a, long b);
