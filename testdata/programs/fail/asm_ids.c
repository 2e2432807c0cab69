// heddle: Two clients get their numbers from a counter of inline assembly, which adds in one instruction and reads the result in
//   another, so both can get the same number.
// kind: assertion
// finding: numbers[0] != numbers[1]
// minimum: switches=4 preemptions=1
// why: One client is left between its two instructions while the other adds.
#include <assert.h>
#include <pthread.h>

static long issued;

static long issue(void) {
  long number;
  __asm__ volatile("lock; incq %0" : "+m"(issued) : : "memory", "cc");
  __asm__ volatile("movq %1, %0" : "=r"(number) : "m"(issued) : "memory");
  return number;
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
// cause: issued: lock; incq | movq %1, %0
