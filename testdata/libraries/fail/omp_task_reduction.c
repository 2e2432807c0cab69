// heddle: The tasks of a reduction take their numbers from a shared counter, which they step without a lock.
// kind: assertion
// finding: sum == 6
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int sum = 0, next = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 3; i++) {
#pragma omp task in_reduction(+ : sum) shared(next)
      sum += ++next;
    }
  }
  assert(sum == 6);
  return 0;
}
