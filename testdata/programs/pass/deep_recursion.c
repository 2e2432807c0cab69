// heddle: Two threads and main recurse as deeply as their stacks permit natively.
// kind: clean
// executions: few
#include <limits.h>
#include <pthread.h>
#include <stddef.h>

enum { FRAME = 4096 };

static int descend(int n) {
  volatile char room[FRAME - 256];
  room[0] = (char)n;
  return n ? descend(n - 1) + room[0] - (char)n : 0;
}

static void *deep(void *arg) {
  (void)arg;
  return (void *)(long)descend((6 << 20) / FRAME);
}

static void *shallow(void *arg) {
  (void)arg;
  return (void *)(long)descend((PTHREAD_STACK_MIN - 8192) / FRAME);
}

int main(void) {
  pthread_t t, u;
  pthread_attr_t small;
  void *r, *s;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  pthread_create(&t, NULL, deep, NULL);
  pthread_create(&u, &small, shallow, NULL);
  int n = descend((6 << 20) / FRAME);
  pthread_join(t, &r);
  pthread_join(u, &s);
  return n || r || s;
}
