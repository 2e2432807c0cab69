// heddle: Two tellers pay into one account without a lock, so one of the payments can be lost.
// kind: assertion
// finding: account.balance == 160
// minimum: switches=4 preemptions=1
// why: A payment is lost only if one teller is left between its read and its write, the other
//   teller writes meanwhile, and the first continues: three intervals. main runs before them (it
//   creates the tellers) and after them (the assertion), which makes five. The teller that is
//   left is in the middle of plain arithmetic, hence enabled.
#include <assert.h>
#include <pthread.h>

struct account {
  const char *owner;
  long balance;
};

static struct account account = {"Ada", 100};

static void *teller(void *arg) {
  long amount = *(const long *)arg;
  account.balance = account.balance + amount;
  return NULL;
}

int main(void) {
  static const long amounts[2] = {20, 40};
  pthread_t tellers[2];
  for (int i = 0; i < 2; i++) pthread_create(&tellers[i], NULL, teller, (void *)&amounts[i]);
  for (int i = 0; i < 2; i++) pthread_join(tellers[i], NULL);
  assert(account.balance == 160);
  return 0;
}
// cause: account.balance: account.balance = account.balance + amount
