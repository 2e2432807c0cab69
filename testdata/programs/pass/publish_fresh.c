// heddle: The table is published with a release store and found with an acquire load, so its clearing comes before every read.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ENTRIES = 64 };
static _Atomic(int *) table;
static volatile int first;

__attribute__((noinline)) static int *table_of(int entries) { return calloc((size_t)entries, sizeof(int)); }

static void *fill(void *arg) {
  atomic_store_explicit(&table, table_of(ENTRIES), memory_order_release);
  return arg;
}

static void *look(void *arg) {
  int *entries = atomic_load_explicit(&table, memory_order_acquire);
  if (entries)
    first = entries[0];
  return arg;
}

int main(void) {
  pthread_t filler, looker;
  pthread_create(&filler, NULL, fill, NULL);
  pthread_create(&looker, NULL, look, NULL);
  pthread_join(filler, NULL);
  pthread_join(looker, NULL);
  free(table);
  return 0;
}
