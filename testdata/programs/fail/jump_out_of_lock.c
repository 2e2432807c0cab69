// heddle: A handler gives up what main does by jumping back to its loop; if main held the lock then, it waits for itself in the next turn.
// kind: deadlock
// finding: main
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf loop;
static volatile int work;
static pthread_t self;

static void on_abandon(int sig) {
  (void)sig;
  siglongjmp(loop, 1);
}

static void *user(void *arg) {
  pthread_kill(self, SIGUSR1);
  return arg;
}

int main(void) {
  pthread_t t;
  self = pthread_self();
  sigset_t abandon;
  sigemptyset(&abandon);
  sigaddset(&abandon, SIGUSR1);
  if (sigsetjmp(loop, 1) == 0) {
    struct sigaction act = {.sa_handler = on_abandon};
    sigaction(SIGUSR1, &act, NULL);
    pthread_create(&t, NULL, user, NULL);
    pthread_detach(t);
  }
  pthread_mutex_lock(&lock);
  work++;
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_BLOCK, &abandon, NULL); // once main has returned there is nowhere to jump to
  return 0;
}
// cause: lock: pthread_mutex_lock(&lock) | pthread_kill(self, SIGUSR1)
