// Two threads read a byte each from one stream, or without SHARED from one each. libc orders calls on a
// stream by a lock that is not a scheduling point. So with SHARED no search is complete, and it fails in
// the order that an enumeration does not reach. Without, main uses the streams before and after the
// threads, and the search is complete.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#ifdef SHARED
#define OF(n) 0
#else
#define OF(n) (n)
#endif

static FILE *streams[2];
static int got[2];

static void *take(void *arg) {
  int n = *(int *)arg;
  got[n] = getc(streams[OF(n)]);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    streams[i] = tmpfile();
    fputs("xy", streams[i]);
    rewind(streams[i]);
    ungetc(getc(streams[i]), streams[i]);
  }
  pthread_t threads[2];
  int numbers[2] = { 0, 1 };
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, take, &numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(got[0] == 'x');
  assert(getc(streams[0]) != 'x');
  return 0;
}
