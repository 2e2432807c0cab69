// heddle: Two workers each signal a result, which main counts by reading a signalfd once epoll says so; real-time signals queue, and carry the result.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { WORKERS = 2 };

static int results[WORKERS]; // written before the signal, read after it

static void *work(void *arg) {
  int i = *(int *)arg;
  results[i] = i + 1;
  sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = i });
  return NULL;
}

int main(void) {
  pthread_t t[WORKERS];
  int number[WORKERS], sum = 0;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), ep = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event e = { .events = EPOLLIN };
  assert(fd >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
  for (int i = 0; i < WORKERS; i++) {
    number[i] = i;
    pthread_create(&t[i], NULL, work, &number[i]);
  }
  for (int got = 0; got < WORKERS;) {
    struct signalfd_siginfo s;
    assert(epoll_wait(ep, &e, 1, -1) == 1);
    while (read(fd, &s, sizeof s) == sizeof s) {
      assert(s.ssi_signo == (unsigned)SIGRTMIN && s.ssi_code == SI_QUEUE && s.ssi_pid == (unsigned)getpid());
      sum += results[s.ssi_int];
      got++;
    }
  }
  assert(sum == 3);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
  close(ep);
  close(fd);
  return 0;
}
