// heddle: A producer hands plain data over through channels of every kind; the end of one pipe is signalled before the data is there.
// kind: assertion
// finding: value[4] == 1
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int value[6];
static int pipes[2], pair[2], ends[2], event, polled, set, listener;
static struct sockaddr_in at;

static void *producer(void *arg) {
  value[0] = 1;
  if (write(pipes[1], "x", 1) != 1) return arg;
  value[1] = 1;
  if (send(pair[0], "x", 1, 0) != 1) return arg;
  value[2] = 1;
  eventfd_write(event, 1);
  value[3] = 1;
  eventfd_write(polled, 1);
  close(ends[1]);
  value[4] = 1;
  value[5] = 1;
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(s, (struct sockaddr *)&at, sizeof at) != 0) return arg;
  close(s);
  return arg;
}

int main(void) {
  pthread_t t;
  char c;
  eventfd_t n;
  socklen_t len = sizeof at;
  struct epoll_event e = {.events = EPOLLIN};
  assert(pipe(pipes) == 0 && pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  event = eventfd(0, 0);
  polled = eventfd(0, 0);
  set = epoll_create1(0);
  assert(epoll_ctl(set, EPOLL_CTL_ADD, polled, &e) == 0);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 1) == 0);
  assert(getsockname(listener, (struct sockaddr *)&at, &len) == 0);
  pthread_create(&t, NULL, producer, NULL);
  ssize_t got = read(pipes[0], &c, 1);
  assert(got == 1 && value[0] == 1);
  got = recv(pair[1], &c, 1, 0);
  assert(got == 1 && value[1] == 1);
  int r = eventfd_read(event, &n);
  assert(r == 0 && value[2] == 1);
  r = epoll_wait(set, &e, 1, -1);
  assert(r == 1 && value[3] == 1);
  got = read(ends[0], &c, 1);
  assert(got == 0 && value[4] == 1);
  r = accept(listener, NULL, NULL);
  assert(r >= 0 && value[5] == 1);
  pthread_join(t, NULL);
  return 0;
}
// cause: value[4]: value[4] = 1 | value[4] == 1
