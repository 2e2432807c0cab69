// heddle: What each end of a TCP connection learns when the other shuts down, closes or resets it.
// kind: clean
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "say.h"

static struct sockaddr_in at;
static int p[2];
static char buf[100];

static void print(const char *what, long r) { printf("%s: %ld %s\n", what, r, r < 0 ? name_of(errno) : ""); fflush(stdout); }
#define CALL(call) print(#call, call)
#define SEND(fd) CALL(send(fd, "abc", 3, MSG_NOSIGNAL))
#define RECEIVE(fd) CALL(recv(fd, buf, sizeof buf, MSG_DONTWAIT))
#define EVENTS(fd) events(#fd, fd)

static void events(const char *name, int fd) {
  struct pollfd x = { fd, 0x3fff, 0 };
  poll(&x, 1, 0);
  printf("%s: events %x\n", name, x.revents);
}

static int error(int fd) {
  int e = -1;
  socklen_t n = sizeof e;
  MUST(getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n));
  return e;
}

static int has_peer(int fd) {
  struct sockaddr_in a;
  socklen_t n = sizeof a;
  return getpeername(fd, (struct sockaddr *)&a, &n);
}

static int listener(void) {
  socklen_t n = sizeof at;
  int l = socket(AF_INET, SOCK_STREAM, 0);
  at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  MUST(bind(l, (struct sockaddr *)&at, n));
  MUST(listen(l, 5));
  MUST(getsockname(l, (struct sockaddr *)&at, &n));
  return l;
}

static int call(int s) { return connect(s, (struct sockaddr *)&at, sizeof at); }

static int client(int flags) {
  int s = socket(AF_INET, SOCK_STREAM | flags, 0);
  if (call(s)) MUST(errno != EINPROGRESS);
  return s;
}

static void aborts(int fd) {
  struct linger l = { 1, 0 };
  MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l));
}

static void connection(const char *name) {
  int l = listener();
  printf("-- %s\n", name);
  p[0] = client(0);
  p[1] = accept(l, NULL, NULL);
  close(l);
}

// A reader that stops watching for data must not be told that the peer has hung up: what it
// sends itself could still arrive.
static void epoll_of_a_closed_peer(void) {
  struct epoll_event e = { .events = EPOLLIN }, out[2];
  connection("epoll");
  int ep = epoll_create1(0);
  MUST(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e));
  SEND(p[1]);
  close(p[1]);
  CALL(epoll_wait(ep, out, 2, 0));
  printf("%x\n", out[0].events);
  RECEIVE(p[0]);
  e.events = 0;
  MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &e));
  CALL(epoll_wait(ep, out, 2, 0));
  SEND(p[0]);
  CALL(epoll_wait(ep, out, 2, 0));
  printf("%x\n", out[0].events);
}

int main(void) {
  epoll_of_a_closed_peer();

  connection("closed");
  close(p[1]);
  EVENTS(p[0]);
  RECEIVE(p[0]);
  SEND(p[0]);
  EVENTS(p[0]);
  RECEIVE(p[0]);
  printf("error %s\n", name_of(error(p[0])));
  SEND(p[0]);
  RECEIVE(p[0]);
  EVENTS(p[0]);
  CALL(has_peer(p[0]));

  connection("closed with unread data");
  SEND(p[0]);
  SEND(p[1]);
  close(p[1]);
  EVENTS(p[0]);
  RECEIVE(p[0]);
  RECEIVE(p[0]);
  RECEIVE(p[0]);
  EVENTS(p[0]);

  connection("closed with unread data, sending");
  SEND(p[0]);
  close(p[1]);
  SEND(p[0]);
  SEND(p[0]);
  RECEIVE(p[0]);
  CALL(shutdown(p[0], SHUT_WR));

  connection("closed without lingering");
  aborts(p[1]);
  SEND(p[1]);
  close(p[1]);
  EVENTS(p[0]);
  RECEIVE(p[0]);
  RECEIVE(p[0]);

  connection("receives no more");
  CALL(shutdown(p[0], SHUT_RD));
  EVENTS(p[0]);
  SEND(p[1]);
  RECEIVE(p[0]);
  RECEIVE(p[0]);
  SEND(p[0]);
  EVENTS(p[1]);

  connection("shut down");
  CALL(shutdown(p[0], SHUT_RDWR));
  EVENTS(p[0]);
  EVENTS(p[1]);
  SEND(p[1]);
  EVENTS(p[0]);
  EVENTS(p[1]);
  RECEIVE(p[0]);
  RECEIVE(p[1]);

  connection("both send no more");
  CALL(shutdown(p[0], SHUT_WR));
  EVENTS(p[0]);
  EVENTS(p[1]);
  CALL(shutdown(p[1], SHUT_WR));
  EVENTS(p[0]);
  EVENTS(p[1]);
  CALL(shutdown(p[0], SHUT_RDWR));
  RECEIVE(p[0]);
  CALL(has_peer(p[0]));

  connection("disconnected");
  at.sin_family = AF_UNSPEC;
  CALL(call(p[0]));
  EVENTS(p[0]);
  RECEIVE(p[0]);
  RECEIVE(p[0]);
  RECEIVE(p[1]);

  puts("-- refused");
  close(listener());
  int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  CALL(call(s));
  EVENTS(s);
  printf("error %s\n", name_of(error(s)));
  EVENTS(s);
  RECEIVE(s);
  CALL(call(s));
  EVENTS(s);
  RECEIVE(s);
  CALL(call(s));
  CALL(call(s));

  puts("-- a listener that is shut down");
  int l = listener();
  s = client(0);
  CALL(shutdown(l, SHUT_WR));
  EVENTS(l);
  CALL(shutdown(l, SHUT_RD));
  EVENTS(l);
  CALL(accept(l, NULL, NULL));
  EVENTS(s);
  RECEIVE(s);

  puts("-- a listener that is closed");
  l = listener();
  s = client(0);
  close(l);
  EVENTS(s);
  RECEIVE(s);

  puts("-- reset before it is accepted");
  l = listener();
  s = client(0);
  SEND(s);
  aborts(s);
  close(s);
  EVENTS(l);
  s = accept(l, NULL, NULL);
  EVENTS(s);
  RECEIVE(s);
  RECEIVE(s);
  RECEIVE(s);

  puts("-- reset before connect returned");
  s = client(SOCK_NONBLOCK);
  int t = accept(l, NULL, NULL);
  aborts(t);
  close(t);
  EVENTS(s);
  CALL(call(s));
  EVENTS(s);
}
