// heddle: Threads give back a cached object with an atomic decrement and test the count in a second step, so two see zero and free it twice.
// kind: misuse
// finding: free
// args: 0
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "work.h"

enum { USERS = 3 };

struct object {
  atomic_int references;
  unsigned char *body;
};

static struct object cached;
static long work;

static void give_back(struct object *o) {
#ifdef CORRECT
  if (atomic_fetch_sub(&o->references, 1) == 1) free(o->body);
#else
  atomic_fetch_sub(&o->references, 1);
  if (atomic_load(&o->references) == 0) free(o->body);
#endif
}

static void *user(void *arg) {
  long id = (long)arg;
  unsigned state = computed((unsigned)id, work * (1 + 3 * id));
  state += cached.body[state % 256];
  give_back(&cached);
  return (void *)(long)(state & 1);
}

int main(int argc, char **argv) {
  pthread_t t[USERS];
  work = work_of(argc, argv);
  cached.body = calloc(256, 1);
  atomic_init(&cached.references, USERS);
  for (long i = 0; i < USERS; i++) pthread_create(&t[i], NULL, user, (void *)i);
  for (int i = 0; i < USERS; i++) pthread_join(t[i], NULL);
  return 0;
}
