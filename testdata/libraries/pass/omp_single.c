// heddle: One thread prepares a value in a single construct, and hands another one out by copyprivate.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  int value = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp single
    value = 7;
    assert(value == 7);
    int copy = 0;
#pragma omp single copyprivate(copy)
    copy = value + 1;
    assert(copy == 8);
#pragma omp barrier
#pragma omp master
    value = 9;
  }
  return 0;
}
