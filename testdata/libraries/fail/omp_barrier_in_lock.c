// heddle: A thread comes to a barrier with a lock set that another thread needs before it can come there.
// kind: deadlock
// finding: OpenMP lock
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  int counter = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_lock(&lock);
    counter++;
#pragma omp barrier
    omp_unset_lock(&lock);
    assert(counter == 2);
  }
  omp_destroy_lock(&lock);
  return 0;
}
