// heddle: recursion with variables on the stack whose addresses are passed on, at several depths, and
//   functions that longjmp leaves. What each thread calls depends on its own data only.
// kind: clean
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#define CALLED __attribute__((noinline))

#ifndef ROUNDS
#define ROUNDS 2
#endif

static int sum[2];
static _Thread_local jmp_buf place;

static CALLED void descend(int *total, int n) {
  int steps[4] = { n, 1, 1, 1 };
  *total += steps[n & 3];
  if (n == 0) longjmp(place, 1);
  descend(total, n - 1);
  *total += 100; // never
}

static CALLED int tree(const int *above, int n) {
  int here[3] = { n, *above, 1 };
  if (n < 2) return here[2];
  return tree(here, n - 1) + tree(here + 1, n - 2);
}

static CALLED void search(int *total) {
  if (!setjmp(place)) descend(total, 3);
  *total += 7;
}

static void *work(void *arg) {
  int *total = arg;
  for (int i = 0; i < ROUNDS; i++) {
    search(total);
    *total += tree(total, 4);
  }
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &sum[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  printf("%d %d\n", sum[0], sum[1]);
  return sum[0] != sum[1];
}
