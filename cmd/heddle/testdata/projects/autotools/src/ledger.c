#include "config.h"
#include "ledger.h"

#include <pthread.h>
#include <stdlib.h>

struct ledger {
  pthread_mutex_t lock;
  int locked;
  long total;
};

struct ledger *ledger_open(int locked) {
  struct ledger *l = calloc(1, sizeof *l);
  pthread_mutex_init(&l->lock, NULL);
  l->locked = locked;
  return l;
}

void ledger_add(struct ledger *l, long amount) {
  if (l->locked) pthread_mutex_lock(&l->lock);
  l->total = sum(l->total, amount);
  if (l->locked) pthread_mutex_unlock(&l->lock);
}

long ledger_total(const struct ledger *l) { return l->total; }
