// heddle: A loop appends its numbers to a list as its threads come, and the list must be in order.
// kind: assertion
// finding: list[i] == i
// flags: -fopenmp
#include <assert.h>

int main(void) {
  static int list[4];
  int n = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (int i = 0; i < 4; i++) {
#pragma omp critical
    list[n++] = i;
  }
  for (int i = 0; i < 4; i++) assert(list[i] == i);
  return 0;
}
