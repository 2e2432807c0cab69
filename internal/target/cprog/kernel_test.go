package cprog

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Random calls on pipes, sockets, eventfds and epoll sets return what the kernel returns: the
// program prints every result, and prints the same with and without heddle. No call blocks,
// and no pipe or socket comes near its limit, which is counted otherwise there.
func TestAgainstTheKernel(t *testing.T) {
	prog := compile(t, `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
enum { N = 12 }; // descriptors 3 … 14
static char buf[4096];
static uint32_t state;
static unsigned rnd(unsigned n) { state = state * 1664525 + 1013904223; return (state >> 8) % n; }
static char is_set[1024];
static int any(void) { return 3 + (int)rnd(N); }
static int room(void) { for (int fd = 3; fd < 3 + N; fd++) if (fcntl(fd, F_GETFD) < 0) return 1; return 0; }
static void say(const char *what, int fd, long r) { printf("%s %d: %ld %s\n", what, fd, r, r < 0 ? strerrorname_np(errno) : ""); }
static unsigned sum(const char *p, long n) { unsigned s = 0; for (long i = 0; i < n; i++) s = s * 31 + (unsigned char)p[i]; return s; }
static int written; // bytes under way, at most
static int connection(int p[2]) {
  struct sockaddr_in a = { .sin_family = AF_INET };
  socklen_t n = sizeof a;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int l = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(l, (void *)&a, n) || listen(l, 1) || getsockname(l, (void *)&a, &n)) return -1;
  p[0] = socket(AF_INET, SOCK_STREAM, 0);
  int r = connect(p[0], (void *)&a, n);
  fcntl(p[0], F_SETFL, O_NONBLOCK);
  p[1] = accept4(l, NULL, NULL, SOCK_NONBLOCK);
  close(l);
  for (int i = 0; i < 2; i++) setsockopt(p[i], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); // the model never delays
  return r;
}
static int option(int fd, int name) { int v = -1; socklen_t n = sizeof v; return getsockopt(fd, SOL_SOCKET, name, &v, &n) == 0 ? v : -1; }
// Connects to a listener, or to a port without one.
static void connect_to(int fd, int to) {
  struct sockaddr_in a = { .sin_family = AF_INET };
  socklen_t n = sizeof a;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int l = -1;
  if (option(to, SO_ACCEPTCONN) != 1) {
    if (!room()) return;
    to = l = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(l, (void *)&a, n)) return;
  }
  getsockname(to, (void *)&a, &n);
  if (l >= 0) close(l);
  if (rnd(8) == 0) a.sin_family = AF_UNSPEC;
  say("connect", fd, connect(fd, (void *)&a, sizeof a));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}
static void make(void) {
  int p[2] = { -1, -1 };
  long r;
  // Two at least must be free.
  int spare = 0;
  for (int fd = 3; fd < 3 + N; fd++) spare += fcntl(fd, F_GETFD) < 0;
  if (spare < 4) return;
  switch (rnd(13)) {
  case 0: case 1: r = pipe2(p, O_NONBLOCK); say("pipe", p[0], r); break;
  case 2: r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p); say("stream pair", p[0], r); break;
  case 3: r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, p); say("packet pair", p[0], r); break;
  case 4: r = socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, p); say("datagram pair", p[0], r); break;
  case 5: r = eventfd(rnd(3), EFD_NONBLOCK | (rnd(2) ? EFD_SEMAPHORE : 0)); say("eventfd", 0, r); break;
  case 6: r = epoll_create1(0); say("epoll", 0, r); if (r >= 0) is_set[r] = 1; break;
  case 11: case 12: r = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); say("tcp socket", 0, r); break;
  case 8: case 9: case 10: r = connection(p); say("tcp", p[0], r); break;
  case 7: { int from = any(); r = dup(from); if (r >= 0) is_set[r] = is_set[from]; } say("dup", 0, r); break;
  }
}
int main(int argc, char **argv) {
  state = (uint32_t)atoi(argv[1]);
  signal(SIGPIPE, SIG_IGN);
  for (int fd = 3; fd < 1024; fd++) close(fd);
  for (int i = 0; i < 400; i++) {
    int fd = any(), n;
    long r;
    switch (rnd(20)) {
    case 0: case 1: make(); break;
    case 2: case 3: case 4: {
      unsigned size = rnd(4) == 0 ? 8 : rnd(700);
      if ((written += (int)size) > 30000) break;
      for (unsigned k = 0; k < size; k++) buf[k] = (char)rnd(256);
      struct stat st;
      int known = fstat(fd, &st) == 0, channel = known && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
      if (known && !channel && size > 8) size = 8; // what a longer write to an eventfd does depends on the kernel
      if (!size && option(fd, SO_TYPE) == SOCK_SEQPACKET) size = 1; // an empty packet counts as unread data before Linux 6.15 only
      if (size == 8) { uint64_t v = rnd(5); memcpy(buf, &v, 8); }
      r = known && S_ISSOCK(st.st_mode) ? send(fd, buf, size, MSG_NOSIGNAL) : write(fd, buf, size);
      say("write", fd, r);
      break;
    }
    case 5: case 6: {
      struct iovec v[2] = { { buf, rnd(300) }, { buf + 1000, rnd(900) } };
      r = rnd(2) ? read(fd, buf, rnd(9) ? 8 + rnd(1000) : 0) : readv(fd, v, 2);
      say("read", fd, r);
      if (r > 0) printf("  %u\n", sum(buf, r < 300 ? 0 : 1));
      break;
    }
    case 7: r = recv(fd, buf, rnd(900), (rnd(2) ? MSG_PEEK : 0) | (rnd(4) ? 0 : MSG_TRUNC)); say("recv", fd, r); if (r > 0 && r < 900) printf("  %u\n", sum(buf, 1)); break;
    case 8: if (rnd(3) == 0) { r = close(fd); say("close", fd, r); is_set[fd] = 0; } break;
    case 9: if (rnd(4) == 0) say("shutdown", fd, shutdown(fd, (int)rnd(4))); break;
    case 10: { int to = any(); if (rnd(3) == 0) { r = dup2(fd, to); say("dup2", to, r); if (r >= 0) is_set[to] = is_set[fd]; } break; }
    case 11: { n = -1; r = ioctl(fd, FIONREAD, &n); struct stat st; if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) { say("ioctl", fd, r); if (r == 0) printf("  %d\n", n); } break; }
    case 12: {
      struct epoll_event e = { .events = (rnd(2) ? EPOLLIN : 0) | (rnd(3) ? 0 : EPOLLOUT) | (rnd(2) ? EPOLLET : 0) | (rnd(5) ? 0 : EPOLLONESHOT) | (rnd(4) ? 0 : EPOLLRDHUP) };
      int ep = any(), op = 1 + (int)rnd(3);
      e.data.u64 = (uint64_t)fd;
      struct stat st;
      if (is_set[fd]) break; // sets in sets
      if (fstat(ep, &st) == 0 && ep != fd) say("epoll_ctl", ep, epoll_ctl(ep, op, fd, &e));
      break;
    }
    case 13: {
      struct epoll_event out[N];
      r = epoll_wait(fd, out, N, 0);
      say("epoll_wait", fd, r);
      // The order is the kernel's business.
      for (long a = 0; a < r; a++) for (long b = a + 1; b < r; b++)
        if (out[b].data.u64 < out[a].data.u64 || (out[b].data.u64 == out[a].data.u64 && out[b].events < out[a].events)) { struct epoll_event x = out[a]; out[a] = out[b]; out[b] = x; }
      for (long a = 0; a < r; a++) printf("  %d %x\n", (int)out[a].data.u64, out[a].events);
      break;
    }
    case 14: { n = fcntl(fd, F_GETFL); say("flags", fd, n < 0 ? n : n & (O_ACCMODE | O_NONBLOCK)); break; }
    case 16: { n = -1; socklen_t len = sizeof n; r = getsockopt(fd, SOL_SOCKET, SO_ERROR, &n, &len); say("error", fd, r); if (r == 0) printf("  %d\n", n); break; }
    case 17: {
      struct sockaddr_storage a;
      socklen_t len = sizeof a;
      struct linger abort = { 1, 0 };
      if (rnd(2)) say("peer", fd, getpeername(fd, (void *)&a, &len));
      else if (rnd(2)) say("linger", fd, setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort));
      break;
    }
    case 18: if (option(fd, SO_DOMAIN) == AF_INET) { if (rnd(4)) connect_to(fd, any()); else say("listen", fd, listen(fd, 100)); } break;
    case 19: if (room()) { r = accept4(fd, NULL, NULL, SOCK_NONBLOCK); say("accept", fd, r); if (r >= 0) { is_set[r] = 0; setsockopt((int)r, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); } } break;
    case 15: {
      struct pollfd p[N];
      for (int k = 0; k < N; k++) p[k] = (struct pollfd){ 3 + k, (short)(rnd(2) ? POLLIN | POLLOUT | POLLRDHUP : rnd(2) ? POLLRDNORM | POLLWRNORM | POLLWRBAND : POLLIN), 0 };
      say("poll", 0, poll(p, N, 0));
      for (int k = 0; k < N; k++) if (p[k].revents) printf("  %d %x\n", p[k].fd, p[k].revents);
      break;
    }
    }
  }
  return 0;
}`, "-Wno-unused-function")
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	// 195: a set reports space when a datagram was refused.
	seeds := []int{195}
	for seed := range 100 {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		arg := fmt.Sprint(seed)
		cmd := exec.CommandContext(t.Context(), prog, arg)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib)
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		o := run(t, start(t, prog, arg), schedule.Plan{Record: true})
		if o.Ending.Kind != trace.Clean {
			t.Fatalf("seed %d: %v %s", seed, o.Ending.Kind, o.Ending.Message)
		}
		kernel, got := strings.Split(string(want), "\n"), strings.Split(string(o.Ending.Output), "\n")
		calls += len(kernel)
		for i := range kernel {
			if i >= len(got) || got[i] != kernel[i] {
				t.Errorf("seed %d, line %d: %q, of the kernel %q; before:\n%s", seed, i, got[min(i, len(got)-1)], kernel[i], strings.Join(kernel[max(0, i-12):i], "\n"))
				break
			}
		}
	}
	if calls < 10000 {
		t.Errorf("only %d lines were compared", calls)
	}
}
