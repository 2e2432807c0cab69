// heddle: The tasks of a reduction take their numbers from the loop that creates them.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 3; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      sum += i + 1;
    }
  }
  assert(sum == 6);
  return 0;
}
