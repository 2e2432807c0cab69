// heddle: Two consumers wait for one slot with C11 threads; a wake-up is taken for the item itself.
// kind: assertion
// finding: full
// minimum: switches=4 preemptions=0
// why: A consumer waits, the producer fills the slot and wakes it, the other consumer empties it, the
//   first resumes: main, consumer, producer, consumer, consumer. Each was left where it had to wait
//   (main in its join, the producer for the slot to be emptied) or had ended.
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static mtx_t lock;
static cnd_t filled, emptied;
static int full, item;

static int consumer(void *arg) {
  mtx_lock(&lock);
  if (!full) cnd_wait(&filled, &lock);
  assert(full);
  full = 0;
  *(int *)arg += item;
  cnd_signal(&emptied);
  mtx_unlock(&lock);
  return thrd_success;
}

static int producer(void *arg) {
  for (int i = 1; i <= 2; i++) {
    mtx_lock(&lock);
    while (full) cnd_wait(&emptied, &lock);
    full = 1;
    item = i;
    cnd_signal(&filled);
    mtx_unlock(&lock);
  }
  return *(int *)arg;
}

int main(void) {
  int a = 0, b = 0, c = 7, r = 0;
  thrd_t ta, tb, tp;
  mtx_init(&lock, mtx_plain);
  cnd_init(&filled);
  cnd_init(&emptied);
  thrd_create(&ta, consumer, &a);
  thrd_create(&tb, consumer, &b);
  thrd_create(&tp, producer, &c);
  thrd_join(ta, NULL);
  thrd_join(tb, NULL);
  thrd_join(tp, &r);
  assert(a + b == 3 && r == 7);
  cnd_destroy(&emptied);
  cnd_destroy(&filled);
  mtx_destroy(&lock);
  return 0;
}
// cause: full: full = 0
