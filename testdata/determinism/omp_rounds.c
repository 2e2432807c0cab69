// heddle: Threads of a parallel region exchange values in rounds, with barriers between them, and then a loop with a static
//   schedule and an ordered section adds them up.
//   Holds: the barriers and the order of the iterations decide who reads what.
// kind: clean
// flags: -fopenmp
#include <omp.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 3 };

int main(void) {
  int a[THREADS] = {1, 2, 3}, b[THREADS], sum = 0;
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num();
    for (int round = 0; round < ROUNDS; round++) {
      b[me] = a[(me + 1) % THREADS] + round;
#pragma omp barrier
      a[me] = b[(me + 2) % THREADS];
#pragma omp barrier
    }
  }
#pragma omp parallel for ordered schedule(static, 1) num_threads(THREADS)
  for (int i = 0; i < THREADS; i++) {
    int mine = a[i] * a[i];
#pragma omp ordered
    sum = sum * 3 + mine;
  }
  printf("%d\n", sum);
  return 0;
}
