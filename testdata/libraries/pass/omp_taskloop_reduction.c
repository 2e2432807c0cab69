// heddle: The tasks of a taskloop add to a reduction, and to a shared sum atomically.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  long sum = 0, shared_sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(1) reduction(+ : sum) shared(shared_sum)
    for (unsigned long long i = 0; i < 4; i++) {
      sum += (long)i;
#pragma omp atomic
      shared_sum += (long)i;
    }
  }
  assert(sum == 6 && shared_sum == 6);
  return 0;
}
