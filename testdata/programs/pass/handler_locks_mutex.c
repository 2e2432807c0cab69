// heddle: A signal handler takes a mutex, which threads that handle the signal hold only while they block it.
// kind: clean
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int events, reported;

static void on_report(int sig) {
  (void)sig;
  pthread_mutex_lock(&lock);
  reported = events;
  pthread_mutex_unlock(&lock);
}

static void *asker(void *arg) {
  pthread_kill(*(pthread_t *)arg, SIGUSR1);
  return NULL;
}

int main(void) {
  struct sigaction act = {.sa_handler = on_report};
  pthread_t self = pthread_self(), t;
  sigset_t report, before;
  sigaction(SIGUSR1, &act, NULL);
  sigemptyset(&report);
  sigaddset(&report, SIGUSR1);
  pthread_create(&t, NULL, asker, &self);
  pthread_sigmask(SIG_BLOCK, &report, &before);
  pthread_mutex_lock(&lock);
  events++;
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_join(t, NULL);
  return reported < 0;
}
