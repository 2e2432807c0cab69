// heddle: One thread copies the log to the output and locks the log first; another annotates the log from the output and locks that first.
// kind: deadlock
// finding: copy
// minimum: switches=1 preemptions=1
// why: Each thread must hold its first stream before either requests its second: main is left in between, and waits when the other
//   does.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *logfile, *output;

__attribute__((noinline)) static void copy(FILE *from, FILE *to) {
  flockfile(from);
  int c = getc_unlocked(from);
  if (c != EOF) ungetc(c, from);
  fputs("line\n", to);
  funlockfile(from);
}

static void *annotate(void *arg) {
  copy(output, logfile);
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
  fclose(logfile);
  fclose(output);
  return 0;
}
// cause: : flockfile(from) | fputs("line
