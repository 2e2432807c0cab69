// heddle: One thread prepares a value in a single construct that the others do not wait for.
// kind: assertion
// finding: value == 7
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int value = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp single nowait
    value = 7;
    assert(value == 7);
  }
  return 0;
}
