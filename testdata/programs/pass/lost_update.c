// heddle: Two tellers pay into one account and hold its lock while they do.
// kind: clean
#include <assert.h>
#include <pthread.h>

struct account {
  const char *owner;
  long balance;
  pthread_mutex_t lock;
};

static struct account account = {"Ada", 100, PTHREAD_MUTEX_INITIALIZER};

static void *teller(void *arg) {
  long amount = *(const long *)arg;
  pthread_mutex_lock(&account.lock);
  account.balance = account.balance + amount;
  pthread_mutex_unlock(&account.lock);
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
