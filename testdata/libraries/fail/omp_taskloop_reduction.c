// heddle: The tasks of a taskloop with a reduction also add to a shared sum, without a lock.
// kind: assertion
// finding: sum == shared_sum
// flags: -fopenmp
#include <assert.h>

int main(void) {
  long sum = 0, shared_sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(1) reduction(+ : sum) shared(shared_sum)
    for (int i = 0; i < 4; i++) {
      sum += i;
      shared_sum += i;
    }
  }
  assert(sum == shared_sum);
  return 0;
}
