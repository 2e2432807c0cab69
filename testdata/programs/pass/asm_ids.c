// heddle: Two clients get their numbers from a counter of inline assembly, which adds and tells the old value in one instruction.
// kind: clean
#include <assert.h>
#include <pthread.h>

static long issued;

static long issue(void) {
  long number = 1;
  __asm__ volatile("lock; xaddq %0, %1" : "+r"(number), "+m"(issued) : : "memory", "cc");
  return number + 1;
}

static void *client(void *arg) {
  *(long *)arg = issue();
  return NULL;
}

int main(void) {
  long numbers[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, client, &numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(numbers[0] != numbers[1]);
}
