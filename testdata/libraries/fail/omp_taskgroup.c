// heddle: A thread waits for its child task, but not for the child's own child, which adds too late.
// kind: assertion
// finding: total == 3
// flags: -fopenmp
#include <assert.h>

static int sum;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      {
#pragma omp atomic
        sum += 2;
      }
#pragma omp atomic
      sum += 1;
    }
#pragma omp taskwait
    int total;
#pragma omp atomic read
    total = sum;
    assert(total == 3);
  }
  return 0;
}
