// heddle: Two clerks count visitors without a lock, and each waits for a semaphore that the other posts after
//   counting. A lock at the counting cures the lost count; held until after the wait, it makes both wait
//   indefinitely.
// kind: assertion
// finding: visitors == 2
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t counted[2];
static int visitors;

static void count(void) {
  visitors++; // count
}

static void *clerk(void *arg) {
  int me = *(const int *)arg;
  count();                      // begin
  sem_post(&counted[me]);
  sem_wait(&counted[1 - me]);   // end
  return NULL;
}

int main(void) {
  static const int numbers[2] = {0, 1};
  pthread_t t[2];
  for (int i = 0; i < 2; i++) sem_init(&counted[i], 0, 0);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, clerk, (void *)&numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(visitors == 2);
  return 0;
}
