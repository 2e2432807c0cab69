// heddle: Two threads add one three times each with an atomic addition.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define ADDITIONS 3

static int sum;

static void *adder(void *arg) {
  (void)arg;
  for (int i = 0; i < ADDITIONS; i++) __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, adder, NULL);
  pthread_create(&b, NULL, adder, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(sum == 2 * ADDITIONS);
  return 0;
}
