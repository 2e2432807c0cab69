// heddle: A list that another thread has made circular is freed by recursion, which exhausts the stack.
// kind: signal
// finding: length
// minimum: switches=1 preemptions=1
// why: The walk must come after the list was closed: main creates the walker, and is left before it opens the list again;
//   the walker's recursion has no scheduling point.
#include <pthread.h>
#include <stddef.h>

struct node { struct node *next; int value; };
static struct node a, b = { &a, 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long length(struct node *n) { return n ? 1 + length(n->next) + n->value : 0; }

static void *walker(void *arg) {
  pthread_mutex_lock(&lock);
  long n = length(&b);
  pthread_mutex_unlock(&lock);
  return n > 100 ? NULL : arg;
}

static void set(struct node *to) {
  pthread_mutex_lock(&lock);
  a.next = to;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, walker, NULL);
  set(&b);
  set(NULL);
  pthread_join(t, NULL);
  return 0;
}
// cause: : a.next = to;
