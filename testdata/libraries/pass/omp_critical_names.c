// heddle: Two critical sections of one name guard a counter.
// kind: clean
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
#pragma omp critical(left)
        counter++;
      }
    }
  }
  assert(counter == 2);
  return 0;
}
