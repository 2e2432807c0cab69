// Two threads add to one ledger. With an argument they do it under its lock; without, an
// addition can be lost, and the assertion fails.
#include "ledger.h"

#include <assert.h>
#include <pthread.h>

static void *teller(void *l) {
  ledger_add(l, 10);
  return NULL;
}

int main(int argc, char **argv) {
  (void)argv;
  struct ledger *l = ledger_open(argc > 1);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, teller, l);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(ledger_total(l) == 20);
  return 0;
}
