// heddle: Two workers send their results through one pipe, and main takes the first for the first worker's.
// kind: assertion
// finding: first == 0 && second == 1
// minimum: switches=3
// why: The second worker's byte must be in before the first's: main until it waits, the second
//   worker, the first, main. Left at the write instead of at the end, a worker can be left for
//   main only with the other's byte still to come, which main waits for.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int results[2];

static void *work(void *arg) {
  char me = (char)(long)arg;
  ssize_t n = write(results[1], &me, 1);
  assert(n == 1);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  char first, second;
  assert(pipe(results) == 0);
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)i);
  assert(read(results[0], &first, 1) == 1);
  assert(read(results[0], &second, 1) == 1);
  assert(first == 0 && second == 1);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
// cause: : write(results[1]
