// heddle: Inner regions have counters of their own, which the outer region's threads add up in a reduction.
// kind: clean
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  int counter = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : counter)
  {
    int own = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      own++;
    }
    counter += own;
  }
  assert(counter == 4);
  return 0;
}
