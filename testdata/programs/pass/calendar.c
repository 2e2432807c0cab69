// heddle: Each mktime may replace the name of the time zone, which libc allocates and frees under a lock of its own.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *convert(void *arg) {
  for (int i = 0; i < 2; i++) {
    struct tm t = { .tm_year = 70, .tm_mday = 2 };
    assert(mktime(&t) != (time_t)-1);
  }
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, convert, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
