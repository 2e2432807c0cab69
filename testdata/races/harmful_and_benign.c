// heddle: The workers count their calls and update the balance without a lock; only the balance is checked.
// kind: assertion
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int balance, calls;
static volatile int last_seen;

__attribute__((noinline)) static void note_call(void) { calls++; }

__attribute__((noinline)) static void look(void) { last_seen = calls; }

static void *work(void *arg) {
  note_call();
  int now = balance;
  balance = now + 1;
  look();
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(balance == 2);
  return 0;
}
