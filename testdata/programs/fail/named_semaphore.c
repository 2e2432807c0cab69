// heddle: Whoever needs the semaphore first makes it: each worker looks whether it is there and, if not, makes it, which fails for the second of two that looked at once.
// kind: assertion
// finding: gate != SEM_FAILED
// minimum: switches=3 preemptions=1
// why: Both look before either makes it: main, one up to there, the other to its end, and the
//   first again, which fails.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static const char name[] = "/heddle-gate-5c2";

static void *work(void *arg) {
  (void)arg;
  sem_t *gate = sem_open(name, 0);
  if (gate == SEM_FAILED) gate = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  assert(gate != SEM_FAILED);
  sem_wait(gate);
  sem_post(gate);
  sem_close(gate);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, work, NULL);
  pthread_create(&b, NULL, work, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(sem_unlink(name) == 0);
  return 0;
}
// cause: : sem_open(name, 0) | sem_open(name, O_CREAT
