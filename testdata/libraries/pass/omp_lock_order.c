// heddle: Two threads set two OpenMP locks in the same order, one of them nestable.
// kind: clean
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  int counter = 0;
  omp_lock_t a;
  omp_nest_lock_t b;
  omp_init_lock(&a);
  omp_init_nest_lock(&b);
#pragma omp parallel num_threads(2)
  {
    omp_set_lock(&a);
    omp_set_nest_lock(&b);
    omp_set_nest_lock(&b);
    counter++;
    omp_unset_nest_lock(&b);
    omp_unset_nest_lock(&b);
    omp_unset_lock(&a);
    if (omp_test_lock(&a)) {
      counter++;
      omp_unset_lock(&a);
    }
  }
  omp_destroy_lock(&a);
  omp_destroy_nest_lock(&b);
  assert(counter >= 2);
  return 0;
}
