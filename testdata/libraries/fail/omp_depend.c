// heddle: Of two tasks one uses what the other makes, and does not say so: they run in any order.
// kind: assertion
// finding: seen == 5
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int made = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task shared(made) depend(out : made)
    made = 5;
#pragma omp task shared(made)
    {
      int seen = made;
      assert(seen == 5);
    }
  }
  return 0;
}
