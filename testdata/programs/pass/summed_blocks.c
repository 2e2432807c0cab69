// heddle: The correct twin of fail/summed_blocks.c: a worker reads the total in the critical section in which it adds to it.
// kind: clean
// executions: few
#include <assert.h>
#include <pthread.h>

// Each worker makes about a million accesses before its critical section, and none of them races.
enum { SIZE = 512, ROUNDS = 700 };

static unsigned blocks[2][SIZE];
static unsigned total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned compute(unsigned *block) {
  for (unsigned i = 0; i < SIZE; i++) block[i] = i;
  for (unsigned round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < SIZE; i++) block[i] = block[i] * 3 + block[(i * 7 + round) % SIZE];
  unsigned sum = 0;
  for (unsigned i = 0; i < SIZE; i++) sum += block[i];
  return sum;
}

static void *worker(void *block) {
  unsigned sum = compute(block);
  pthread_mutex_lock(&mutex);
  total += sum;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t workers[2];
  unsigned expected = compute(blocks[0]);
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, worker, blocks[i]);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  assert(total == 2 * expected);
  return 0;
}
