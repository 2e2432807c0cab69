// heddle: A thread waits for two tasks, and sums up what they compute.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int left = 0, right = 0;
#pragma omp task shared(left)
    left = 1;
#pragma omp task shared(right)
    right = 2;
#pragma omp taskwait
    assert(left + right == 3);
#pragma omp taskwait
  }
  return 0;
}
