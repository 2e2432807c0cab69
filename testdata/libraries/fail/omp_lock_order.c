// heddle: Two threads set two OpenMP locks in opposite orders.
// kind: deadlock
// finding: OpenMP lock
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  int counter = 0;
  omp_lock_t a, b;
  omp_init_lock(&a);
  omp_init_lock(&b);
#pragma omp parallel num_threads(2)
  {
    omp_lock_t *first = omp_get_thread_num() ? &a : &b, *second = omp_get_thread_num() ? &b : &a;
    omp_set_lock(first);
    omp_set_lock(second);
    counter++;
    omp_unset_lock(second);
    omp_unset_lock(first);
  }
  omp_destroy_lock(&a);
  omp_destroy_lock(&b);
  assert(counter >= 2);
  return 0;
}
