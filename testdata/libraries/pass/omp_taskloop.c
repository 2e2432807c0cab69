// heddle: The tasks of a taskloop put their results where their iteration says.
// kind: clean
// flags: -fopenmp
#include <assert.h>

int main(void) {
  static int result[4];
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; i++) result[i] = i + 1;
  }
  int seen = 0;
  for (int i = 0; i < 4; i++) seen += result[i];
  assert(seen == 10);
  return 0;
}
