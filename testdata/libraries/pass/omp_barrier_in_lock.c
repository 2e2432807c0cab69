// heddle: Threads come to a barrier after they have unset the lock.
// kind: clean
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
    omp_unset_lock(&lock);
#pragma omp barrier
    assert(counter == 2);
  }
  omp_destroy_lock(&lock);
  return 0;
}
