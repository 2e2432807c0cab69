// heddle: The main thread sends the worker's tally two signals and waits for the worker to end; SIGUSR1 does not queue, so the second is lost if the first was not taken yet.
// kind: assertion
// finding: tally == 2
// minimum: switches=2 preemptions=0
// why: Both are sent before the worker takes one: main, the worker for the rest of its life, main
//   again, which waits for the worker to end. Nothing shorter: main
//   reads the tally once the worker has ended.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

#define SIGNAL SIGUSR1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int tally;

static void count(int sig) {
  (void)sig;
  tally++;
}

static void *work(void *arg) {
  (void)arg;
  sigset_t s;
  sigemptyset(&s);
  sigaddset(&s, SIGNAL);
  pthread_sigmask(SIG_UNBLOCK, &s, NULL);
  pthread_mutex_lock(&lock); // until both have been sent
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};
  sigaction(SIGNAL, &act, NULL);
  sigset_t s;
  sigemptyset(&s);
  sigaddset(&s, SIGNAL);
  pthread_sigmask(SIG_BLOCK, &s, NULL);
  pthread_mutex_lock(&lock);
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_kill(t, SIGNAL);
  pthread_kill(t, SIGNAL);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  assert(tally == 2);
  return 0;
}
// cause: : pthread_kill(t, SIGNAL)
