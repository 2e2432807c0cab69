// heddle: Four workers meet at a barrier that was made for two, so the last one may add the parts up before all are there.
// kind: assertion
// finding: sum == 10
// minimum: switches=2 preemptions=0
// why: The summing worker passes the barrier with one other worker only; both must have arrived,
//   so both run, after main has started them. It can be the second to arrive, in which case the
//   first one is blocked when it is left, and main in its join.
#include <assert.h>
#include <pthread.h>

#define WORKERS 4

static pthread_barrier_t parts_ready;
static int part[WORKERS];

static void *worker(void *arg) {
  int me = *(const int *)arg;
  part[me] = me + 1;
  pthread_barrier_wait(&parts_ready);
  if (me == WORKERS - 1) {
    int sum = 0;
    for (int i = 0; i < WORKERS; i++) sum += part[i];
    assert(sum == 10);
  }
  return NULL;
}

int main(void) {
  static const int ids[WORKERS] = {0, 1, 2, 3};
  pthread_t workers[WORKERS];
  pthread_barrier_init(&parts_ready, NULL, 2);
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, worker, (void *)&ids[i]);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  pthread_barrier_destroy(&parts_ready);
  return 0;
}
// cause: part: part[me] = me + 1 | sum += part[i]
