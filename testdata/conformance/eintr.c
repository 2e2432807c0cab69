// heddle: Calls on descriptors in which a signal handler runs: which of them fail with EINTR, which begin again, and what they find then.
// kind: clean
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

static int p[2], other[2], fd, ep;
static char buf[1 << 17];
static atomic_int hits, done;
static void (*meanwhile)(void); // what the handler does, once
static sigjmp_buf env;

static void on(int sig) {
  (void)sig;
  int err = errno;
  if (atomic_fetch_add(&hits, 1) == 0 && meanwhile) meanwhile();
  errno = err;
}

static void nap(void) { nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL); }

static long (*wait_in)(void);
static long result;
static int error;
static void *waiter(void *arg) {
  (void)arg;
  errno = 0;
  result = wait_in();
  error = errno;
  atomic_store(&done, 1);
  return NULL;
}

static void said(const char *name, const char *how) {
  printf("%s, %s: %ld %s, handled %s\n", name, how, result, name_of(error), atomic_load(&hits) ? "yes" : "no");
  fflush(stdout);
}

// The handler comes again and again until the call has ended.
static void ends(const char *name, long (*call)(void), int flags) {
  struct sigaction a = { .sa_handler = on, .sa_flags = flags };
  sigaction(SIGUSR1, &a, NULL);
  hits = done = 0;
  wait_in = call;
  pthread_t t;
  pthread_create(&t, NULL, waiter, NULL);
  while (!atomic_load(&done)) {
    nap();
    pthread_kill(t, SIGUSR1);
  }
  pthread_join(t, NULL);
  said(name, flags & SA_RESTART ? "SA_RESTART" : "no flag");
}

// It comes three times if the call has not ended before, and then what the call waits for.
static void goes_on(const char *name, long (*call)(void), void (*feed)(void)) {
  struct sigaction a = { .sa_handler = on, .sa_flags = SA_RESTART };
  sigaction(SIGUSR1, &a, NULL);
  hits = done = 0;
  wait_in = call;
  pthread_t t;
  pthread_create(&t, NULL, waiter, NULL);
  for (int i = 0; i < 3 && !atomic_load(&done); i++) {
    int before = atomic_load(&hits);
    nap();
    pthread_kill(t, SIGUSR1);
    while (atomic_load(&hits) == before && !atomic_load(&done)) nap();
  }
  if (feed) feed();
  pthread_join(t, NULL);
  said(name, "begun again");
}

static long in_read(void) { return read(p[0], buf, 10); }
static long in_write(void) { return write(p[1], buf, 1); }
static long in_big_write(void) { return write(p[1], buf, 100000); }
static long in_recv(void) { return recv(p[0], buf, 10, 0); }
static long in_recv_all(void) { return recv(p[0], buf, 10, MSG_WAITALL); }
static long in_recvmsg(void) {
  struct iovec v = { buf, 10 };
  struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
  return recvmsg(p[0], &h, 0);
}
static long in_send(void) { return send(p[1], buf, 1, 0); }
static long in_accept(void) { int s = accept(fd, NULL, NULL); return s >= 0 ? close(s) : s; }
static struct sockaddr_un name = { .sun_family = AF_UNIX };
static long in_connect(void) {
  int s = socket(AF_UNIX, SOCK_STREAM, 0), r = connect(s, (void *)&name, sizeof name), e = errno;
  close(s);
  errno = e;
  return r;
}
static long in_eventfd(void) { uint64_t v; return read(fd, &v, 8); }
static long in_poll(void) { struct pollfd x = { p[0], POLLIN, 7 }; int r = poll(&x, 1, -1); return r < 0 && x.revents ? -99 : r; }
static long in_ppoll(void) { struct pollfd x = { p[0], POLLIN, 0 }; struct timespec ts = { 1000, 0 }; return ppoll(&x, 1, &ts, NULL); }
static long in_select(void) {
  fd_set r;
  struct timeval tv = { 1000, 0 };
  FD_ZERO(&r);
  FD_SET(p[0], &r);
  int n = select(p[0] + 1, &r, NULL, NULL, &tv), e = errno;
  if (!FD_ISSET(p[0], &r) || tv.tv_sec > 1000 || tv.tv_sec < 900) return -99; // the set as it was, the rest of the time
  errno = e;
  return n;
}
static long in_pselect(void) { fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); return pselect(p[0] + 1, &r, NULL, NULL, NULL, NULL); }
static long in_epoll(void) { struct epoll_event e; return epoll_wait(ep, &e, 1, 1000000); }

static void put(void) { MUST(write(p[1], "x", 1) != 1); }
static void count(void) { uint64_t one = 1; MUST(write(fd, &one, 8) != 8); }
static void drain(void) { struct pollfd x = { p[0], POLLIN, 0 }; while (poll(&x, 1, 0) == 1) MUST(read(p[0], buf, sizeof buf) < 0); }
static void call_in(void) { int s = socket(AF_UNIX, SOCK_STREAM, 0); MUST(connect(s, (void *)&name, sizeof name)); MUST(close(s)); }
static void take_one(void) { int s = accept(fd, NULL, NULL); MUST(close(s)); }

static void full(int to) {
  MUST(fcntl(to, F_SETFL, O_NONBLOCK));
  for (int n = 4096; n; n = n > 1 ? 1 : 0) while (write(to, buf, (size_t)n) > 0) ;
  MUST(fcntl(to, F_SETFL, 0));
}
static void shut(void) { close(p[0]); close(p[1]); }

static void both(const char *name, long (*call)(void), void (*feed)(void)) {
  ends(name, call, 0);
  goes_on(name, call, feed);
}
static void never_again(const char *name, long (*call)(void)) {
  ends(name, call, 0);
  ends(name, call, SA_RESTART);
}

static void listener(int backlog) {
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  MUST(bind(fd, (void *)&name, sizeof name));
  MUST(listen(fd, backlog));
}

// ---- what a call finds that begins again
static void close_it(void) { close(p[0]); }
static void another_there(void) { dup2(other[0], p[0]); }
static void not_blocking(void) { fcntl(p[0], F_SETFL, O_NONBLOCK); }

// ---- handlers that do not return
static atomic_int armed; // env can be jumped to
static void jump(void) {
  if (atomic_exchange(&armed, 0)) siglongjmp(env, 1);
  atomic_store(&hits, 0); // the next one, then
}
static long jumps_out(void) {
  struct pollfd x = { p[1], POLLOUT, 0 };
  if (!sigsetjmp(env, 1)) {
    atomic_store(&armed, 1);
    return read(p[0], buf, 10);
  }
  close(p[0]); // nobody reads any more: the call must not hold it
  poll(&x, 1, -1);
  return x.revents & POLLERR ? -1000 : -1001;
}
static void leave(void) { pthread_exit(&p); }
static void *leaver(void *arg) {
  MUST(read(p[0], buf, 10) != -1);
  return arg;
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  snprintf(name.sun_path + 1, 40, "heddle eintr %d", (int)getpid());
  MUST(pipe(p));
  both("read", in_read, put);
  never_again("poll", in_poll);
  never_again("ppoll", in_ppoll);
  never_again("select", in_select);
  never_again("pselect", in_pselect);
  MUST((ep = epoll_create1(0)) < 0);
  MUST(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &(struct epoll_event){ .events = EPOLLIN }));
  never_again("epoll_wait", in_epoll);
  full(p[1]);
  both("write", in_write, drain);
  drain();
  shut();
  MUST(pipe(p));
  ends("write in parts", in_big_write, 0); // what was written counts, whatever the flag
  drain();
  ends("write in parts", in_big_write, SA_RESTART);
  shut();

  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
  both("recv", in_recv, put);
  both("recvmsg", in_recvmsg, put);
  put();
  ends("recv of a part", in_recv_all, 0);
  put();
  ends("recv of a part", in_recv_all, SA_RESTART);
  full(p[1]);
  both("send", in_send, drain);
  MUST(setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 1000, 0 }, sizeof(struct timeval)));
  drain();
  never_again("recv with a time-out", in_recv);
  MUST(setsockopt(p[1], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){ 1000, 0 }, sizeof(struct timeval)));
  full(p[1]);
  never_again("send with a time-out", in_send);
  shut();

  listener(5);
  both("accept", in_accept, call_in);
  MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 1000, 0 }, sizeof(struct timeval)));
  never_again("accept with a time-out", in_accept);
  close(fd);
  listener(0);
  call_in(); // the one that may wait
  both("connect", in_connect, take_one);
  close(fd);

  MUST((fd = eventfd(0, 0)) < 0);
  both("eventfd", in_eventfd, count);
  close(fd);
  MUST((fd = timerfd_create(CLOCK_MONOTONIC, 0)) < 0);
  ends("timerfd", in_eventfd, 0);
  MUST(timerfd_settime(fd, 0, &(struct itimerspec){ .it_value = { .tv_nsec = 50000000 } }, NULL));
  goes_on("timerfd", in_eventfd, NULL);
  close(fd);

  MUST(pipe(p));
  meanwhile = close_it;
  goes_on("a read whose descriptor the handler closes", in_read, NULL);
  close(p[1]);
  MUST(pipe(p));
  MUST(pipe(other));
  MUST(write(other[1], "other", 5) != 5);
  meanwhile = another_there;
  goes_on("a read whose descriptor the handler replaces", in_read, NULL);
  shut();
  MUST(pipe(p));
  meanwhile = not_blocking;
  goes_on("a read that the handler lets not block", in_read, NULL);
  shut();
  MUST(pipe(p));
  meanwhile = jump;
  ends("a read that the handler jumps out of", jumps_out, SA_RESTART);
  close(p[1]);
  MUST(pipe(p));
  meanwhile = leave;
  hits = 0;
  pthread_t t;
  void *ret;
  pthread_create(&t, NULL, leaver, NULL);
  nap();
  pthread_kill(t, SIGUSR1);
  SAY(pthread_join(t, &ret));
  SAY(ret == &p);
  close(p[0]);
  SAY(write(p[1], "x", 1) == -1 && errno == EPIPE);
  return 0;
}
