// heddle: Descriptors of child processes: when they are ready, waits by them, and signals through them.
// kind: clean
// isolation: fork
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int fd;

static void nap(void) { nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL); }
static int open_pid(pid_t p, unsigned flags) { return (int)syscall(SYS_pidfd_open, p, flags); }
static int ready(int ms) {
  struct pollfd p = { fd, POLLIN, 0 };
  return poll(&p, 1, ms) == 1 ? p.revents & POLLIN : 0;
}

static pid_t child(int status) {
  fflush(stdout);
  pid_t p = fork();
  if (p == 0) {
    if (status < 0) pause();
    else nap();
    _exit(status);
  }
  return p;
}

static void *waits(void *arg) {
  SAY(ready(-1) == POLLIN);
  return arg;
}

static int code(idtype_t what, id_t id, int options) {
  siginfo_t s = { 0 };
  int r = waitid(what, id, &s, options);
  return r ? errno : s.si_pid ? s.si_status : 0;
}

int main(void) {
  pthread_t t;
  struct epoll_event e = { .events = EPOLLIN | EPOLLET }, got;
  SAY(open_pid(0, 0));
  SAY(open_pid(getpid(), 4096) < 0 && errno == EINVAL);
  fd = open_pid(getpid(), 0);
  SAY(ready(0));
  SAY((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  SAY((int)read(fd, &got, sizeof got) < 0 && errno == EINVAL);
  close(fd);

  pid_t p = child(3);
  fd = open_pid(p, 0);
  SAY(ready(-1) == POLLIN);
  SAY(ready(0) == POLLIN);
  SAY(code(P_PIDFD, (id_t)fd, WEXITED | WNOWAIT));
  SAY(code(P_PIDFD, (id_t)fd, WEXITED));
  SAY(code(P_PIDFD, (id_t)fd, WEXITED) == ECHILD);
  SAY(ready(0) == POLLIN);
  SAY((int)syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0 && errno == ESRCH);
  SAY(open_pid(p, 0) < 0 && errno == ESRCH);
  close(fd);

  // A child that ends only after a signal
  p = child(-1);
  fd = open_pid(p, O_NONBLOCK);
  SAY(code(P_PIDFD, (id_t)fd, WEXITED) == EAGAIN);
  SAY(ready(10));
  SAY((int)syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
  pthread_create(&t, NULL, waits, NULL);
  nap();
  flockfile(stdout); // the thread says something, too, once the child has ended
  SAY((int)syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
  funlockfile(stdout);
  pthread_join(t, NULL);
  SAY(code(P_PID, (id_t)p, WEXITED) == SIGTERM);
  close(fd);

  int ep = epoll_create1(EPOLL_CLOEXEC);
  p = child(4);
  fd = open_pid(p, 0);
  SAY(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
  SAY(epoll_wait(ep, &got, 1, -1));
  SAY(epoll_wait(ep, &got, 1, 0));
  SAY(code(P_PIDFD, (id_t)fd, WEXITED));
  close(fd);
  close(ep);
  SAY(code(P_PIDFD, 1, WEXITED) == EBADF);
  return 0;
}
