// heddle: Two threads read from one descriptor, each from a position that it names.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int file;

static void *reader(void *arg) {
  long at = (long)arg;
  char c = 0;
  ssize_t n = pread(file, &c, 1, (off_t)at);
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
