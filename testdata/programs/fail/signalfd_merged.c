// heddle: Two workers each signal a result, which main counts by reading a signalfd; a second signal that is sent before the first is read is lost.
// kind: deadlock
// finding: next
// minimum: switches=3 preemptions=0
// why: Main must create both workers and return to read, and both workers must have sent their signals before: each runs once, and
//   main continues after the second. No thread that is left could go on.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { WORKERS = 2 };

static void *work(void *arg) {
  kill(getpid(), SIGUSR1);
  return arg;
}

__attribute__((noinline)) static void next(int fd) {
  struct signalfd_siginfo s;
  assert(read(fd, &s, sizeof s) == sizeof s && s.ssi_signo == SIGUSR1);
}

int main(void) {
  pthread_t t[WORKERS];
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC);
  assert(fd >= 0);
  for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < WORKERS; i++) next(fd);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  close(fd);
  return 0;
}
// cause: : kill(getpid(), SIGUSR1) | read(fd, &s
