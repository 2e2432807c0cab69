// heddle: Tasks, of which any thread of the team may execute any.
//   Fails.
// kind: clean
// flags: -fopenmp
#include <stdio.h>

static int fibonacci(int n) {
  if (n < 2) return n;
  int x, y;
#pragma omp task shared(x)
  x = fibonacci(n - 1);
  y = fibonacci(n - 2);
#pragma omp taskwait
  return x + y;
}

int main(void) {
  int result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  result = fibonacci(4);
  printf("%d\n", result);
  return 0;
}
