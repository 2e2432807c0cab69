// heddle: Two critical sections of different names guard one counter, so they do not exclude each other.
// kind: assertion
// finding: counter == 2
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int counter = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp critical(left)
        counter++;
      }
#pragma omp section
      {
#pragma omp critical(right)
        counter++;
      }
    }
  }
  assert(counter == 2);
  return 0;
}
