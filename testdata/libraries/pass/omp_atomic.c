// heddle: Each thread adds to a counter in one atomic construct.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int counter = 0;
#pragma omp parallel num_threads(3)
  {
    int seen;
#pragma omp atomic capture
    seen = ++counter;
    assert(seen >= 1 && seen <= 3);
  }
  assert(counter == 3);
  return 0;
}
