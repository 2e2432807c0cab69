// heddle: Two workers compute for long and add to a total that each read before it computed, so one sum can be lost.
// kind: assertion
// finding: total == 2 * expected
// minimum: switches=4 preemptions=1
// why: A sum is lost only if one worker is left between its two critical sections, the other does
//   its second meanwhile, and the first continues: three intervals. main runs before them (it
//   creates the workers) and after them (the assertion), which makes five. The worker that is
//   left is about to compute or to take a lock that is free, hence enabled.
// executions: few
#include <assert.h>
#include <pthread.h>

// Each worker makes about a million accesses between its critical sections, and none of them
// races: no schedule gains anything by a switch among them.
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
  pthread_mutex_lock(&mutex);
  unsigned before = total;
  pthread_mutex_unlock(&mutex);
  unsigned sum = compute(block);
  pthread_mutex_lock(&mutex);
  total = before + sum;
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
// cause: total: before = total | total = before + sum
