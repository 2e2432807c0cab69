// heddle: Two threads read from one descriptor, each after setting the position that both share.
// kind: assertion
// finding: n == 1
// minimum: switches=3 preemptions=1
// why: A reader must be preempted between setting the position and reading, and the other one
//   move it then: main, a reader, the other until it ends, the reader.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int file;

static void *reader(void *arg) {
  long at = (long)arg;
  char c = 0;
  assert(lseek(file, (off_t)at, SEEK_SET) == at);
  ssize_t n = read(file, &c, 1);
  assert(n == 1 && c == 'a' + at);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  char name[] = "lseek-XXXXXX";
  file = mkstemp(name);
  assert(file >= 0 && unlink(name) == 0);
  assert(write(file, "ab", 2) == 2);
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, reader, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
// cause: : lseek(file | read(file
