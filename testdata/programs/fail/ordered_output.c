// heddle: A block compressor's writer sleeps until the next block in order is ready; compressors count the blocks that are ready without the lock that the writer tests under.
// kind: assertion
// finding: main
// minimum: switches=6 preemptions=1
// why: All others have ended at the assertion, main has run before and after, and one compressor is
//   left between its read and its write of the count while another counts: seven intervals.
#include <assert.h>
#include <pthread.h>

#define BLOCKS 9
#define WORKERS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int next_block, block[BLOCKS];
static int finished; /* wrong: counted without the lock */
static long out;

static int take(void) {
  pthread_mutex_lock(&lock);
  int b = next_block < BLOCKS ? next_block++ : -1;
  pthread_mutex_unlock(&lock);
  return b;
}

__attribute__((noinline)) static int get(const int *p) { return *p; }
__attribute__((noinline)) static void set(int *p, int v) { *p = v; }

static void *compress(void *arg) {
  (void)arg;
  for (int b; (b = take()) >= 0;) {
    int size = 1 + b * b;
    pthread_mutex_lock(&lock);
    block[b] = size;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    set(&finished, get(&finished) + 1);
  }
  return NULL;
}

static void *writer(void *arg) {
  (void)arg;
  for (int b = 0; b < BLOCKS; b++) {
    pthread_mutex_lock(&lock);
    while (block[b] == 0) pthread_cond_wait(&ready, &lock);
    out += block[b];
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t w[WORKERS], o;
  pthread_create(&o, NULL, writer, NULL);
  for (int i = 0; i < WORKERS; i++) pthread_create(&w[i], NULL, compress, NULL);
  for (int i = 0; i < WORKERS; i++) pthread_join(w[i], NULL);
  pthread_join(o, NULL);
  assert(finished == BLOCKS);
  return 0;
}
// cause: finished: return *p | *p = v
