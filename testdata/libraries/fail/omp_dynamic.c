// heddle: A program believes that with a dynamic schedule every thread gets one of two iterations.
// kind: assertion
// finding: done[0] == 1 && done[1] == 1
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  static int done[6];
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 2; i++) done[omp_get_thread_num()]++;
  assert(done[0] == 1 && done[1] == 1);
  return 0;
}
