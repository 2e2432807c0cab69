// heddle: Two threads print with the stream locked if it was free; the one that found it locked unlocks it, too.
// kind: misuse
// finding: funlockfile of a stream
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *out;

static void *print(void *arg) {
  ftrylockfile(out);
  fputs_unlocked("a", out);
  funlockfile(out);
  return arg;
}

int main(void) {
  pthread_t t;
  out = tmpfile();
  assert(out);
  pthread_create(&t, NULL, print, NULL);
  print(NULL);
  pthread_join(t, NULL);
  fclose(out);
  return 0;
}
// cause: : ftrylockfile(out)
