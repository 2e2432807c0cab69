// heddle: Threads take the iterations of a loop with a dynamic schedule.
//   Fails: which thread gets which iteration depends on the schedule.
// kind: clean
// flags: -fopenmp
#include <stdio.h>

int main(void) {
  int a[8], sum = 0;
#pragma omp parallel for schedule(dynamic) num_threads(2)
  for (int i = 0; i < 8; i++) a[i] = i * i;
  for (int i = 0; i < 8; i++) sum += a[i];
  printf("%d\n", sum);
  return 0;
}
