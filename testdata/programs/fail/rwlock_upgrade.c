// heddle: A name table is searched under its read lock and extended under its write lock without a second look, so a name can get in twice.
// kind: assertion
// finding: copies == 1
// minimum: switches=3 preemptions=1
// why: The second inserter finds the name that the first one put in, so its own search came before
//   that: inserter, inserter, inserter, with main before them, waiting in its join. The one that
//   is preempted has released the read lock or is about to, and is enabled.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define NAMES 8

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static const char *names[NAMES];
static int count;

static int count_copies(const char *name) {
  int copies = 0;
  for (int i = 0; i < count; i++) copies += strcmp(names[i], name) == 0;
  return copies;
}

static void intern(const char *name) {
  pthread_rwlock_rdlock(&lock);
  int known = count_copies(name) > 0;
  pthread_rwlock_unlock(&lock);
  if (known) return;
  pthread_rwlock_wrlock(&lock);
  names[count++] = name;
  int copies = count_copies(name);
  assert(copies == 1);
  pthread_rwlock_unlock(&lock);
}

static void *parser(void *arg) {
  intern(arg);
  return NULL;
}

int main(void) {
  static char here[] = "printf", there[] = "printf";
  pthread_t a, b;
  pthread_create(&a, NULL, parser, here);
  pthread_create(&b, NULL, parser, there);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  pthread_rwlock_destroy(&lock);
  return 0;
}
// cause: count: i < count | names[count++] = name
