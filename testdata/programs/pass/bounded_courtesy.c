// heddle: Two drivers raise a flag each and yield to the other at most 5,000 times; then they lower it and turn around.
// kind: clean
// executions: few
#include <assert.h>
#include <pthread.h>
#include <sched.h>

struct driver {
  unsigned char wants;
  struct driver *other;
};

static struct driver drivers[2] = {{0, &drivers[1]}, {0, &drivers[0]}};
static int on_bridge;

static void *cross(void *arg) {
  struct driver *me = arg;
  __atomic_store_n(&me->wants, 1, __ATOMIC_SEQ_CST);
  for (int polls = 0; __atomic_load_n(&me->other->wants, __ATOMIC_SEQ_CST); polls++) {
    if (polls == 5000) {
      __atomic_store_n(&me->wants, 0, __ATOMIC_SEQ_CST);
      return NULL;
    }
    sched_yield();
  }
  assert(__atomic_add_fetch(&on_bridge, 1, __ATOMIC_SEQ_CST) == 1);
  __atomic_sub_fetch(&on_bridge, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&me->wants, 0, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, cross, &drivers[0]);
  pthread_create(&b, NULL, cross, &drivers[1]);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
