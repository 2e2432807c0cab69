// heddle: Two drivers raise a flag each and yield as long as the other's flag is up; if both raise it before either looks, both yield forever.
// kind: hang
// finding: cross
#include <assert.h>
#include <pthread.h>
#include <sched.h>

struct driver {
  unsigned char wants;
  struct driver *other;
};

static struct driver drivers[2] = {{0, &drivers[1]}, {0, &drivers[0]}};
static int on_bridge;
static int crossings;

static void *cross(void *arg) {
  struct driver *me = arg;
  __atomic_store_n(&me->wants, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&me->other->wants, __ATOMIC_SEQ_CST)) sched_yield();
  assert(__atomic_add_fetch(&on_bridge, 1, __ATOMIC_SEQ_CST) == 1);
  crossings++;
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
  assert(crossings == 2);
  return 0;
}
// cause: wants: __atomic_store_n(&me->wants, 1 | __atomic_load_n(&me->other->wants
