// heddle: A loop fills an array, and after the barrier at its end the next loop reads it.
// kind: clean
// flags: -fopenmp
#include <assert.h>

static int cell[4];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static, 2)
    for (int i = 0; i < 4; i++) cell[i] = 10 + i;
#pragma omp for schedule(static, 2)
    for (int i = 0; i < 4; i++) {
      int next = cell[(i + 1) % 4];
      assert(next == 10 + (i + 1) % 4);
    }
  }
  return 0;
}
