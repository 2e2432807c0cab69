// heddle: Two threads print lines to one stream over a pipe, each line with two calls: only one call is whole.
// kind: assertion
// finding: key == value
// minimum: switches=4 preemptions=1
// why: main's assertion comes after it has joined both, so one thread's line must come between the
//   two parts of the other's: main, the one, the other, the one, main. Only the one is preempted.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static FILE *out;

static void *record(void *arg) {
  const char *name = arg;
  fprintf(out, "%s=", name);
  fprintf(out, "%s\n", name);
  return NULL;
}

int main(void) {
  int ends[2];
  char line[16];
  pthread_t t[2];
  assert(pipe(ends) == 0);
  out = fdopen(ends[1], "w");
  pthread_create(&t[0], NULL, record, "a");
  pthread_create(&t[1], NULL, record, "b");
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  fclose(out);
  FILE *in = fdopen(ends[0], "r");
  while (fgets(line, sizeof line, in)) {
    char key = line[0], value = line[2];
    assert(key == value);
  }
  fclose(in);
  return 0;
}
// cause: out: fprintf(out, "%s=" | fprintf(out, "%s\n"
