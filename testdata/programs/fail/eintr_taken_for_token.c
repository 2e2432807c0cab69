// heddle: A worker does not look at what sem_wait returns; a signal that interrupts the wait is taken for a token.
// kind: assertion
// finding: produced
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t tokens;
static int produced;

static void on_tick(int sig) { (void)sig; }

static void *worker(void *arg) {
  (void)arg;
  sem_wait(&tokens);
  assert(__atomic_load_n(&produced, __ATOMIC_SEQ_CST));
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_tick};
  pthread_t t;
  sigaction(SIGUSR1, &act, NULL);
  sem_init(&tokens, 0, 0);
  pthread_create(&t, NULL, worker, NULL);
  pthread_kill(t, SIGUSR1);
  __atomic_store_n(&produced, 1, __ATOMIC_SEQ_CST);
  sem_post(&tokens);
  pthread_join(t, NULL);
  return 0;
}
// cause: produced: __atomic_load_n(&produced | __atomic_store_n(&produced
