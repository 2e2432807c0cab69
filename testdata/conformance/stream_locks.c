// heddle: The locks of stdio streams: recursion, which calls wait for them and which do not, what a child has of them, and streams over pipes.
// kind: clean
// isolation: fork
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static FILE *f, *g;
static pthread_barrier_t b;
static atomic_int locked, waited;

static void *tries(void *arg) {
  (void)arg;
  pthread_barrier_wait(&b); // held
  SAY(ftrylockfile(f) != 0);
  SAY(ftrylockfile(g));
  funlockfile(g);
  SAY(fputs_unlocked("unlocked ", f) >= 0);
  pthread_barrier_wait(&b);
  fputs("after ", f); // waits
  atomic_store(&waited, !atomic_load(&locked));
  flockfile(f);
  fputs("alone\n", f);
  funlockfile(f);
  return NULL;
}

static void contents(FILE *of) {
  char line[80];
  rewind(of);
  while (fgets(line, sizeof line, of)) printf("> %s", line);
  fflush(stdout);
}

static void child(void) {
  pid_t p;
  flockfile(g);
  fflush(stdout);
  p = fork();
  if (p == 0) _exit(fputs("in the child\n", f) < 0 ? 1 : fflush(f) ? 2 : ftrylockfile(f) ? 3 : 0);
  funlockfile(g);
  int status;
  MUST(waitpid(p, &status, 0) != p);
  SAY(WEXITSTATUS(status));
}

static void *holds(void *arg) {
  flockfile(f);
  pthread_barrier_wait(&b);
  pthread_barrier_wait(&b);
  funlockfile(f);
  return arg;
}

static void *keeps(void *arg) {
  flockfile(stdout);
  pthread_barrier_wait(&b);
  pause();
  return arg;
}

static void *reads(void *arg) {
  char line[20];
  while (fgets(line, sizeof line, arg)) {
    flockfile(g);
    fputs("read ", g);
    fputs(line, g);
    funlockfile(g);
  }
  return NULL;
}

int main(void) {
  pthread_t t;
  int p[2];
  f = tmpfile(), g = tmpfile();
  MUST(!f || !g);
  pthread_barrier_init(&b, NULL, 2);
  flockfile(f);
  SAY(ftrylockfile(f));
  flockfile(f);
  funlockfile(f);
  funlockfile(f);
  atomic_store(&locked, 1);
  pthread_create(&t, NULL, tries, NULL);
  fputs("before ", f);
  pthread_barrier_wait(&b);
  pthread_barrier_wait(&b);
  fputs("still ", f);
  atomic_store(&locked, 0);
  funlockfile(f);
  pthread_join(t, NULL);
  SAY(atomic_load(&waited));
  SAY(ftrylockfile(f));
  funlockfile(f);

  // libc makes all streams free in a child.
  pthread_create(&t, NULL, holds, NULL);
  pthread_barrier_wait(&b);
  child();
  pthread_barrier_wait(&b);
  pthread_join(t, NULL);
  SAY(ftrylockfile(f));
  funlockfile(f);

  MUST(pipe(p));
  FILE *in = fdopen(p[0], "r"), *out = fdopen(p[1], "w");
  pthread_create(&t, NULL, reads, in);
  flockfile(out);
  fputs("one\n", out);
  fflush(out);
  SAY(ftrylockfile(out));
  fputs("two\n", out);
  funlockfile(out);
  funlockfile(out);
  SAY(fclose(out));
  pthread_join(t, NULL);
  SAY(fclose(in));
  contents(f);
  contents(g);

  // A stream whose calls acquire nothing has no lock for others to wait for.
  SAY(__fsetlocking(g, FSETLOCKING_BYCALLER) == FSETLOCKING_INTERNAL);
  SAY(fputs("by the caller\n", g) >= 0);

  SAY(fclose(f));
  SAY(fclose(g));

  // The end of the process waits for no stream.
  pthread_create(&t, NULL, keeps, NULL);
  pthread_barrier_wait(&b);
  return 0;
}
