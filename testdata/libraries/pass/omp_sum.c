// heddle: A parallel loop adds into a sum with a reduction.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 1; i <= 3; i++) sum += i;
  assert(sum == 6);
  return 0;
}
