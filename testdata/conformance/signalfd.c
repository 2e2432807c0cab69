// heddle: Signals read from descriptors: whose they are, what is told of them, which calls wait for them, and what a changed set does.
// kind: clean
// isolation: fork
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

static int fd;
static pthread_t other;
static pthread_barrier_t b;

static sigset_t set_of(int a, int b, int c) {
  sigset_t s;
  sigemptyset(&s);
  sigaddset(&s, a);
  if (b) sigaddset(&s, b);
  if (c) sigaddset(&s, c);
  return s;
}

static void nap(void) { nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL); }

static void tell(const char *how) {
  struct signalfd_siginfo s;
  errno = 0;
  ssize_t n = read(fd, &s, sizeof s);
  if (n != sizeof s) printf("%s: %zd %s\n", how, n, name_of(errno));
  else printf("%s: signal %u, code %d, value %d, mine %d, status %d, overrun %u\n", how, s.ssi_signo, s.ssi_code, s.ssi_int, s.ssi_pid == (unsigned)getpid() && s.ssi_uid == getuid(), s.ssi_status, s.ssi_overrun);
  fflush(stdout);
}

static int ready(int events) {
  struct pollfd p = { fd, (short)events, 0 };
  return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

static void *waits(void *arg) {
  pthread_barrier_wait(&b);
  tell(arg);
  return NULL;
}

static void *polls(void *arg) {
  struct pollfd p = { fd, POLLIN, 0 };
  (void)arg;
  pthread_barrier_wait(&b);
  SAY(poll(&p, 1, -1) == 1 && p.revents == POLLIN);
  tell("after poll");
  return NULL;
}

static void *own(void *arg) {
  (void)arg;
  pthread_barrier_wait(&b); // the signal for main has been sent
  SAY(ready(POLLIN));
  pthread_kill(pthread_self(), SIGUSR2);
  SAY(ready(POLLIN) == POLLIN);
  tell("the thread's own");
  pthread_barrier_wait(&b);
  return NULL;
}

static void on(int sig) { (void)sig; }

int main(void) {
  sigset_t s = set_of(SIGUSR1, SIGUSR2, SIGRTMIN), more = set_of(SIGCHLD, SIGALRM, SIGHUP), only = set_of(SIGHUP, 0, 0), all;
  struct epoll_event e = { .events = EPOLLIN }, got;
  struct signalfd_siginfo two[3];
  sigorset(&all, &s, &more);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_barrier_init(&b, NULL, 2);
  fd = signalfd(-1, &s, SFD_NONBLOCK | SFD_CLOEXEC);
  SAY(fd > 2);
  SAY(signalfd(-1, &s, 1));
  SAY(signalfd(fd + 20, &s, 0));
  SAY(signalfd(1, &s, 0));
  SAY((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
  tell("nothing");
  SAY(ready(POLLIN | POLLOUT));
  SAY(read(fd, two, 127));
  SAY(write(fd, two, sizeof *two));

  kill(getpid(), SIGUSR1);
  kill(getpid(), SIGUSR1); // they merge
  SAY(ready(POLLIN | POLLRDNORM | POLLOUT) == POLLIN);
  tell("kill");
  tell("only one");
  pthread_kill(pthread_self(), SIGUSR2);
  tell("pthread_kill");
  sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 5 });
  sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 6 });
  kill(getpid(), SIGUSR2);
  SAY((int)read(fd, two, sizeof two) / (int)sizeof *two);
  SAY((int)two[0].ssi_signo);
  SAY(two[1].ssi_int);
  SAY(two[2].ssi_int);

  // Another set.
  kill(getpid(), SIGHUP);
  SAY(ready(POLLIN));
  SAY(signalfd(fd, &more, 0) == fd);
  SAY(ready(POLLIN));
  tell("with another set");
  SAY(signalfd(fd, &s, 0) == fd);

  // select, epoll: both kinds of watch
  fd_set r;
  int ep = epoll_create1(0);
  SAY(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
  SAY(epoll_wait(ep, &got, 1, 0));
  kill(getpid(), SIGUSR1);
  FD_ZERO(&r);
  FD_SET(fd, &r);
  SAY(select(fd + 1, &r, NULL, NULL, NULL));
  SAY(epoll_wait(ep, &got, 1, 0));
  SAY(epoll_wait(ep, &got, 1, -1));
  tell("after epoll");
  SAY(epoll_wait(ep, &got, 1, 0));
  e.events |= EPOLLET;
  SAY(epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e));
  kill(getpid(), SIGUSR1);
  SAY(epoll_wait(ep, &got, 1, 0));
  SAY(epoll_wait(ep, &got, 1, 0));
  kill(getpid(), SIGUSR2);
  SAY(epoll_wait(ep, &got, 1, 0));
  tell("edge");
  tell("edge");
  close(ep);

  // Calls that wait
  SAY(fcntl(fd, F_SETFL, 0));
  pthread_create(&other, NULL, waits, "a read that waits");
  pthread_barrier_wait(&b);
  nap();
  kill(getpid(), SIGUSR1);
  pthread_join(other, NULL);
  pthread_create(&other, NULL, polls, NULL);
  pthread_barrier_wait(&b);
  nap();
  sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 7 });
  pthread_join(other, NULL);
  pthread_create(&other, NULL, waits, "sent to the thread");
  pthread_barrier_wait(&b);
  pthread_kill(other, SIGUSR2);
  pthread_join(other, NULL);

  // A signal for one thread is not another's.
  pthread_create(&other, NULL, own, NULL);
  pthread_kill(pthread_self(), SIGUSR1);
  pthread_barrier_wait(&b);
  pthread_barrier_wait(&b);
  tell("main's own");
  pthread_join(other, NULL);

  // An ignored signal that is blocked stays pending; one with a handler, too.
  signal(SIGHUP, SIG_IGN);
  signal(SIGUSR1, on);
  SAY(signalfd(fd, &only, 0) == fd);
  kill(getpid(), SIGUSR1);
  kill(getpid(), SIGHUP);
  tell("ignored");
  SAY(signalfd(fd, &s, 0) == fd);
  tell("with a handler");

  // Timers
  SAY(signalfd(fd, &more, 0) == fd);
  struct itimerval it = { .it_value = { 0, 2000 } };
  SAY(setitimer(ITIMER_REAL, &it, NULL));
  tell("setitimer");
  timer_t timer;
  struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM, .sigev_value.sival_int = 8 };
  struct itimerspec ts = { .it_value.tv_nsec = 1000000 };
  SAY(timer_create(CLOCK_MONOTONIC, &ev, &timer));
  SAY(timer_settime(timer, 0, &ts, NULL));
  tell("timer");
  SAY(timer_delete(timer));

  // Children: their ends, and what they send.
  SAY(signalfd(fd, &more, 0) == fd);
  pid_t p = fork();
  if (p == 0) _exit(3);
  tell("a child's end");
  SAY(waitpid(p, NULL, 0) == p);
  SAY(signalfd(fd, &s, 0) == fd);
  pid_t parent = getpid();
  p = fork();
  if (p == 0) {
    nap();
    kill(parent, SIGUSR2);
    _exit(0);
  }
  tell("from a child");
  SAY(waitpid(p, NULL, 0) == p);
  SAY(signalfd(fd, &more, 0) == fd);
  tell("its end");

  // By its numbers
  uint64_t set = 1ull << (SIGUSR1 - 1);
  SAY((int)syscall(SYS_signalfd4, -1, &set, 4, 0));
  int raw = (int)syscall(SYS_signalfd4, -1, &set, 8, SFD_NONBLOCK | SFD_CLOEXEC);
  SAY((fcntl(raw, F_GETFD) & FD_CLOEXEC) != 0);
  raise(SIGUSR1);
  SAY((int)read(raw, two, sizeof two) / (int)sizeof *two);
  SAY(close(raw));
  SAY(close(fd));
  return 0;
}
