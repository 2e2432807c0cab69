// heddle: Two cashiers share a drawer under a ticket lock of inline assembly. The ticket is read and advanced by two instructions, so
//   both can have the same one, and the second waits for a number that has passed.
// kind: hang
// finding: queue.serving
// minimum: switches=3 preemptions=1
// why: One cashier is left between its two instructions while the other serves.
#include <assert.h>
#include <pthread.h>

static struct {
  unsigned short next, serving;
} queue;
static int drawer = 10;

static unsigned short draw(void) {
  unsigned short mine;
  __asm__ volatile("movw %1, %0" : "=r"(mine) : "m"(queue.next) : "memory");
  __asm__ volatile("lock; incw %0" : "+m"(queue.next) : : "memory", "cc");
  return mine;
}

static void wait_for(unsigned short mine) {
  __asm__ volatile("1:\tcmpw %0, %1\n\tje 2f\n\trep; nop\n\tjmp 1b\n2:" : : "r"(mine), "m"(queue.serving) : "memory", "cc");
}

static void next(void) { __asm__ volatile("incw %0" : "+m"(queue.serving) : : "memory", "cc"); }

static void *cashier(void *arg) {
  wait_for(draw());
  drawer += *(const int *)arg;
  next();
  return NULL;
}

int main(void) {
  int amounts[2] = {5, 7};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, cashier, &amounts[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(queue.serving == 2 && drawer == 22);
}
// cause: queue.next: movw %1, %0 | lock; incw
