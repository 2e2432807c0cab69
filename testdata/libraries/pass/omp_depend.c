// heddle: Tasks make a value, use it twice, and change it, in the order of their dependences.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int made = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task shared(made) depend(out : made)
    made = 5;
    for (int i = 0; i < 2; i++) {
#pragma omp task shared(made) depend(in : made)
      {
        int seen = made;
        assert(seen == 5);
      }
    }
#pragma omp task shared(made) depend(inout : made)
    made = 6;
  }
  assert(made == 6);
  return 0;
}
