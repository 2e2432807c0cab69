// heddle: Two threads print with the stream locked if it was free; only a thread that has locked it unlocks it.
// kind: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *out;

static void *print(void *arg) {
  if (ftrylockfile(out) == 0) {
    fputs_unlocked("a", out);
    funlockfile(out);
  } else {
    fputs("a", out);
  }
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
