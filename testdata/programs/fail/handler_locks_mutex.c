// heddle: A signal handler takes a mutex that the thread it interrupts may hold.
// kind: deadlock
// finding: on_report
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
  sigaction(SIGUSR1, &act, NULL);
  pthread_create(&t, NULL, asker, &self);
  pthread_mutex_lock(&lock);
  events++;
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return reported < 0;
}
// cause: lock: pthread_mutex_lock(&lock)
