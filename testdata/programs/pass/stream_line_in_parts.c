// heddle: Two threads print lines to one stream over a pipe, each line with two calls, and hold a mutex over both.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static FILE *out;
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;

static void *record(void *arg) {
  const char *name = arg;
  pthread_mutex_lock(&line_lock);
  fprintf(out, "%s=", name);
  fprintf(out, "%s\n", name);
  pthread_mutex_unlock(&line_lock);
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
