// heddle: A handler of quick_exit reads the journal while a writer is still in the middle of an entry.
// kind: assertion
// finding: opened == closed
// minimum: switches=2 preemptions=1
// why: main reads one of the counts in the handler, the writer runs to its end, main reads the
//   other: main, writer, main. main was enabled, the writer had ended.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened, closed;

static void check(void) {
  assert(opened == closed);
}

static void *writer(void *arg) {
  pthread_mutex_lock(&lock);
  opened++;
  closed++;
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t t;
  at_quick_exit(check);
  pthread_create(&t, NULL, writer, NULL);
  quick_exit(0);
}
// cause: : opened++
