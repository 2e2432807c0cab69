// heddle: A loop appends its numbers to a list in an ordered construct.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  static int list[4];
  int n = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic, 1) ordered
  for (int i = 0; i < 4; i++) {
#pragma omp ordered
    list[n++] = i;
  }
  for (int i = 0; i < 4; i++) assert(list[i] == i);
  return 0;
}
