// heddle: N workers count their calls, update the balance and note a time without a lock; only the balance is checked. One simplified failing execution loses several updates at once.
// kind: assertion
// finding: balance == N
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static int balance, calls, last_seen;
#ifdef FIX
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

__attribute__((noinline)) static void note_call(void) { calls++; }

__attribute__((noinline)) static void note_time(void) { last_seen = 5; }

static void *work(void *arg) {
  note_call();
#ifdef FIX
  pthread_mutex_lock(&lock);
#endif
  balance++;
#ifdef FIX
  pthread_mutex_unlock(&lock);
#endif
  note_time();
  return arg;
}

int main(void) {
  pthread_t t[N];
  for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
  assert(balance == N);
  return 0;
}
