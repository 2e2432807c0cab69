// heddle: A parallel loop adds into a shared sum, and names no reduction: an addition is lost.
// kind: assertion
// finding: sum == 6
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for num_threads(3)
  for (int i = 1; i <= 3; i++) sum += i;
  assert(sum == 6);
  return 0;
}
