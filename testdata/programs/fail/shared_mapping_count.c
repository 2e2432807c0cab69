// heddle: Two workers count in a shared mapping without a lock.
// kind: assertion
// finding: *count == 2
// minimum: switches=4 preemptions=1
// why: As in lost_update: one worker is left between its read and its write, the other counts, the
//   first continues; main is before and after them. The preempted one is enabled.
// isolation: fork
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *count; // in memory that a child process would share

static void *worker(void *arg) {
  (void)arg;
  *count = *count + 1;
  return NULL;
}

int main(void) {
  count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert(count != MAP_FAILED);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  pthread_mutex_lock(&lock);
  assert(*count == 2);
  pthread_mutex_unlock(&lock);
  return 0;
}
// cause: : *count = *count + 1
