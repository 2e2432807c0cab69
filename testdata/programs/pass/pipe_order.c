// heddle: Two workers send their results, each through a pipe of its own.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int results[2];
static int others[2];

static void *work(void *arg) {
  char me = (char)(long)arg;
  ssize_t n = write(me ? others[1] : results[1], &me, 1);
  assert(n == 1);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  char first, second;
  assert(pipe(results) == 0 && pipe(others) == 0);
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)i);
  assert(read(results[0], &first, 1) == 1);
  assert(read(others[0], &second, 1) == 1);
  assert(first == 0 && second == 1);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
