// heddle: Two workers count under a spin lock of inline assembly, but they release it before they have stored the sum.
// kind: assertion
// finding: served == 2
// minimum: switches=4 preemptions=1
// why: One worker is left between its release and its store while the other counts.
#include <assert.h>
#include <pthread.h>

static unsigned latch;
static int served;

static void latch_acquire(void) {
  unsigned taken = 1;
  for (;;) {
    __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(latch) : : "memory");
    if (!taken) return;
    __asm__ volatile("pause");
  }
}

static void latch_release(void) { __asm__ volatile("movl $0, %0" : "=m"(latch) : : "memory"); }

static void *worker(void *arg) {
  latch_acquire();
  int before = served;
  latch_release();
  served = before + 1;
  return arg;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(served == 2);
}
// cause: served: int before = served | served = before + 1
