// heddle: A compare-and-swap of two words that finds them in the other order stores nothing and so publishes nothing.
// kind: data race
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
  uint64_t a, b;
} __attribute__((aligned(16)));

static struct pair pair = {1, 2};
static int value, done;

static int swap(struct pair *place, struct pair *expected, struct pair *new) {
  unsigned char done;
  __asm__ volatile("movq 0(%4), %%rax; movq 8(%4), %%rdx; lock; cmpxchg16b %0; setz %1"
                   : "+m"(*place), "=q"(done)
                   : "b"(new->a), "c"(new->b), "r"(expected)
                   : "memory", "cc", "%rax", "%rdx");
  return done;
}

static void *writer(void *arg) {
  struct pair expected = {2, 1}, new = {3, 4};
  value = 1;
  swap(&pair, &expected, &new);
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, writer, NULL);
  if (__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    uint64_t a;
    __asm__ volatile("movq %1, %0" : "=r"(a) : "m"(pair.a) : "memory");
    if (value + (int)a == 0) return 1;
  }
  pthread_join(t, NULL);
}
