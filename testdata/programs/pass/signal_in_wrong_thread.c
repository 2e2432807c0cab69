// heddle: Workers are made with the signal blocked, so that one for the process can only go to main.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_t owner;
static int turns;

static void on_reload(int sig) {
  (void)sig;
  assert(pthread_equal(pthread_self(), owner));
}

static void *worker(void *arg) {
  (void)arg;
  __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_reload};
  sigset_t reload;
  pthread_t t;
  owner = pthread_self();
  sigemptyset(&reload);
  sigaddset(&reload, SIGHUP);
  sigaction(SIGHUP, &act, NULL);
  pthread_sigmask(SIG_BLOCK, &reload, NULL);
  pthread_create(&t, NULL, worker, NULL);
  pthread_sigmask(SIG_UNBLOCK, &reload, NULL);
  kill(getpid(), SIGHUP);
  pthread_join(t, NULL);
  return 0;
}
