// heddle: Iterations of dynamic, guided and collapsed loops are each done once, by whichever thread.
// kind: clean
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
  static int done[6];
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 6; i++) done[i]++;
#pragma omp for schedule(guided, 2)
    for (int i = 0; i < 6; i++) done[i]++;
#pragma omp for schedule(dynamic, 2) collapse(2)
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 3; k++) done[i * 3 + k]++;
  }
  for (int i = 0; i < 6; i++) assert(done[i] == 3);
  return 0;
}
