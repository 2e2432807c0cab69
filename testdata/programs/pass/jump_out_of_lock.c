// heddle: A handler gives up what main does by jumping back to its loop; main blocks the signal before it takes the lock, and from then on.
// kind: clean
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
  pthread_sigmask(SIG_BLOCK, &abandon, NULL);
  pthread_mutex_lock(&lock);
  work++;
  pthread_mutex_unlock(&lock);
  return 0;
}
