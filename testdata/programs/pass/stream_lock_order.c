// heddle: Two threads write between two streams, each with both streams locked in one order; a line in parts is not torn.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *logfile, *output;
static int parts; // written under the log's lock

static void copy(FILE *from, FILE *to) {
  flockfile(logfile);
  flockfile(output);
  int c = getc_unlocked(from);
  if (c != EOF) ungetc(c, from);
  fputs("li", to);
  parts++;
  fputs("ne\n", to);
  funlockfile(output);
  funlockfile(logfile);
}

static void *annotate(void *arg) {
  copy(output, logfile);
  if (ftrylockfile(output) == 0) funlockfile(output);
  return arg;
}

int main(void) {
  pthread_t t;
  logfile = tmpfile();
  output = tmpfile();
  assert(logfile && output);
  pthread_create(&t, NULL, annotate, NULL);
  copy(logfile, output);
  pthread_join(t, NULL);
  assert(parts == 2);
  fclose(logfile);
  fclose(output);
  return 0;
}
