// heddle: A handler asks a worker to stop, but it was installed with SA_RESTART: a worker that is already waiting for work keeps waiting and never checks.
// kind: deadlock
// finding: worker
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t work;
static volatile sig_atomic_t stop;

static void on_stop(int sig) {
  (void)sig;
  stop = 1;
}

static void *worker(void *arg) {
  (void)arg;
  while (!stop) sem_wait(&work);
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
  pthread_t t;
  sigaction(SIGUSR1, &act, NULL);
  sem_init(&work, 0, 1);
  pthread_create(&t, NULL, worker, NULL);
  pthread_kill(t, SIGUSR1);
  pthread_join(t, NULL);
  return 0;
}
// cause: stop: while (!stop) | stop = 1
