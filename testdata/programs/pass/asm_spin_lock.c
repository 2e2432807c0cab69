// heddle: Two workers count under a spin lock of inline assembly, which exchanges.
// kind: clean
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
  served++;
  latch_release();
  return arg;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(served == 2);
}
