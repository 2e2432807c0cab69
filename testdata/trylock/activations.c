// heddle: The lines of a tried lock are left by recursion, by longjmp, by pthread_exit and by a return; each
//   thread must then have released it, or the next one would never return. Correct as it is.
// kind: clean
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long steps[4];
static __thread jmp_buf back;

static __attribute__((noinline)) void jump(long *n) {
  ++*n;
  longjmp(back, 1);
}

static __attribute__((noinline)) long sum(long n) {
  if (n == 0) return steps[0];
  long rest = sum(n - 1); // recursion
  steps[0] += rest;
  return rest + 1;
}

static __attribute__((noinline)) void leave(void) {
  steps[1]++;             // exit
  pthread_exit(NULL);
}

static __attribute__((noinline)) void long_jump(void) {
  jump(&steps[2]);        // long jump
}

static __attribute__((noinline)) int early(void) {
  if (steps[3]++ < 100) return 1; // return
  return 2;
}

static void *work(void *arg) {
  pthread_mutex_lock(&mu);
  sum(3);
  pthread_mutex_unlock(&mu);
  if (!setjmp(back)) long_jump();
  early();
  if (arg) leave();
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, work, NULL);
  pthread_create(&t[1], NULL, work, &t);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
