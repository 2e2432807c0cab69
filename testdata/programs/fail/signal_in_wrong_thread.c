// heddle: A handler takes it for granted that it runs in main; a signal for the process goes to any thread that does not block it.
// kind: assertion
// finding: pthread_equal
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
  pthread_t t;
  owner = pthread_self();
  sigaction(SIGHUP, &act, NULL);
  pthread_create(&t, NULL, worker, NULL);
  kill(getpid(), SIGHUP);
  pthread_join(t, NULL);
  return 0;
}
// cause: : kill(getpid(), SIGHUP)
