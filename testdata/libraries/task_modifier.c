// heddle: A reduction with the task modifier, which heddle controls with libgomp and refuses with libomp.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  {
    sum += 1;
#pragma omp task in_reduction(+ : sum)
    sum += 10;
  }
  assert(sum == 22);
  return 0;
}
