// heddle: Threads of a parallel region read what the master thread writes, with no barrier between them.
//   Fails: omp_rounds.c is the twin, with barriers.
// kind: clean
// flags: -fopenmp
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[2] = {0}, late = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp master
#pragma omp atomic write
    late = 5;
    int seen;
#pragma omp atomic read
    seen = late;
    a[omp_get_thread_num()] = seen;
  }
  printf("%d\n", a[0]);
  return 0;
}
