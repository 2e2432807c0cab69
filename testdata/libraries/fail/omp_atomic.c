// heddle: Each thread reads a counter atomically and writes it atomically: another addition between the two is lost.
// kind: assertion
// finding: counter == 3
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int counter = 0;
#pragma omp parallel num_threads(3)
  {
    int seen;
#pragma omp atomic read
    seen = counter;
#pragma omp atomic write
    counter = seen + 1;
  }
  assert(counter == 3);
  return 0;
}
