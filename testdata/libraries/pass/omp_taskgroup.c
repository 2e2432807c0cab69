// heddle: A thread waits for a group of tasks, which includes the children of the group's tasks.
// kind: clean
// flags: -fopenmp
#include <assert.h>

static int sum;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup
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
    int total;
#pragma omp atomic read
    total = sum;
    assert(total == 3);
  }
  return 0;
}
