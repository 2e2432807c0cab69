// heddle: two threads sieve and sum arrays of their own: nothing but memory accesses. Measures what a program with access hooks costs without heddle.
// kind: clean
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 1 << 16, DEFAULT_ROUNDS = 1 };
static char composite[2][SIZE];
static long sums[2][SIZE / 64];
static int rounds = DEFAULT_ROUNDS;

static void *sieve(void *arg) {
  char *mine = arg;
  long *sum = sums[mine != composite[0]];
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < SIZE; i++) mine[i] = 0;
    for (int i = 2; i * i < SIZE; i++)
      if (!mine[i])
        for (int k = i * i; k < SIZE; k += i) mine[k] = 1;
    for (int i = 0; i < SIZE; i++) sum[i / 64] += mine[i];
  }
  return arg;
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, sieve, composite[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return sums[0][1] == sums[1][1] ? 0 : 1;
}
