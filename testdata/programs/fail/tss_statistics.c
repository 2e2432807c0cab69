// heddle: Each thread counts for itself; the destructor of its count adds it to the total without the lock.
// kind: assertion
// finding: total == 2
// minimum: switches=4 preemptions=1
// why: One worker runs between the other's load and store of the total, and main checks at the end:
//   main, worker, worker, worker, main. main waits in its join, the second worker has ended.
#include <assert.h>
#include <stdlib.h>
#include <threads.h>

static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t lock;
static int total;

static int sum(int a, int b) __attribute__((noinline));
static int sum(int a, int b) { return a + b; }

static void add(void *count) {
  total = sum(total, *(int *)count);
  free(count);
}

static void prepare(void) {
  mtx_init(&lock, mtx_plain);
  tss_create(&key, add);
}

static int worker(void *arg) {
  (void)arg;
  call_once(&once, prepare);
  int *count = malloc(sizeof *count);
  *count = 1;
  tss_set(key, count);
  return 0;
}

int main(void) {
  thrd_t t[2];
  for (int i = 0; i < 2; i++) thrd_create(&t[i], worker, NULL);
  for (int i = 0; i < 2; i++) thrd_join(t[i], NULL);
  assert(total == 2);
  tss_delete(key);
  mtx_destroy(&lock);
  return 0;
}
// cause: total: total = sum(total
