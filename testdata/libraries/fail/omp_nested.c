// heddle: The threads of two inner regions add to one counter of the outer region without a lock.
// kind: assertion
// finding: counter == 4
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  int counter = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    {
      counter++;
    }
  }
  assert(counter == 4);
  return 0;
}
