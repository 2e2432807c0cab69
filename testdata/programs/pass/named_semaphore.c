// heddle: Whoever needs the semaphore first makes it: to open it and to make it if it is not there is one call.
// kind: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static const char name[] = "/heddle-gate-5c2";

static void *work(void *arg) {
  (void)arg;
  sem_t *gate = sem_open(name, O_CREAT, 0600, 1);
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
