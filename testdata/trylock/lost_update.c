// heddle: Two tellers pay into one account without a lock, so one of the payments can be lost. A lock
//   at the payment cures it; one around the reading of the amount only does not.
// kind: assertion
// finding: balance == 160
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;
static long audits;

static void *teller(void *arg) {
  long amount = *(const long *)arg; // amount
  long before = balance;            // begin
  balance = before + amount;        // end
  pthread_mutex_lock(&mu);
  audits++;                         // audit
  pthread_mutex_unlock(&mu);        // audited
  return NULL;
}

int main(void) {
  static const long amounts[2] = {20, 40};
  pthread_t tellers[2];
  for (int i = 0; i < 2; i++) pthread_create(&tellers[i], NULL, teller, (void *)&amounts[i]);
  for (int i = 0; i < 2; i++) pthread_join(tellers[i], NULL);
  assert(balance == 160);
  if (audits < 2) balance = 0; // never
  return 0;
}
