package cprog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ioFrame is a program around two bodies: a thread's and, after it was created, main's. It is
// run under control, where every assertion is about what the kernel would do as well; the
// test does that, too, where a case does not say that it cannot.
const ioFrame = `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
static int p[2], q[2], fd, ep;
static char buf[1 << 18];
static pthread_t t;
__attribute__((unused)) static struct sockaddr_in loop(int port) {
  struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}
__attribute__((unused)) static int server(int port) {
  struct sockaddr_in a = loop(port);
  int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  assert(s >= 0 && setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
  assert(bind(s, (void *)&a, sizeof a) == 0 && listen(s, 5) == 0);
  return s;
}
__attribute__((unused)) static int port_of(int s) {
  struct sockaddr_in a; socklen_t n = sizeof a;
  assert(getsockname(s, (void *)&a, &n) == 0 && n == sizeof a);
  return ntohs(a.sin_port);
}
__attribute__((unused)) static int client(int port) {
  struct sockaddr_in a = loop(port);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  return connect(s, (void *)&a, sizeof a) == 0 ? s : -errno;
}
__attribute__((unused)) static long now(void) { struct timespec ts; clock_gettime(CLOCK_MONOTONIC, &ts); return ts.tv_sec * 1000 + ts.tv_nsec / 1000000; }
__attribute__((unused)) static int ready(int f, int events) { struct pollfd x = { f, events, 0 }; return poll(&x, 1, 0) > 0 ? x.revents : 0; }
static void before(void) { BEFORE; }
static void *thread(void *arg) { BODY; return arg; }
static void rest(void) { MAIN; }
int main(void) {
  before();
  pthread_create(&t, NULL, thread, NULL);
  rest();
  pthread_join(t, NULL);
  return 0;
}`

type ioCase struct {
	name               string
	before, body, main string
	kind               trace.Kind
	status             int32
	message            string
	virtual            bool // is not so outside of heddle
}

// What calls on descriptors do, under every policy, and by the kernel itself.
func TestDescriptors(t *testing.T) {
	for _, c := range []ioCase{
		{name: "a read waits for a write", before: "assert(pipe(p) == 0)", body: `assert(write(p[1], "hello", 5) == 5)`, main: `assert(read(p[0], buf, 99) == 5 && !memcmp(buf, "hello", 5))`},
		{name: "numbers are the lowest", before: "assert(pipe(p) == 0); close(p[0]); assert(eventfd(0, 0) == p[0] && dup(p[1]) == p[1] + 1)"},
		{name: "the end of a pipe", before: "assert(pipe(p) == 0)", body: `write(p[1], "ab", 2); close(p[1])`, main: "assert(read(p[0], buf, 1) == 1); assert(read(p[0], buf, 9) == 1 && read(p[0], buf, 9) == 0 && ready(p[0], POLLIN) == POLLHUP)"},
		{name: "a copy keeps a pipe open", before: "assert(pipe(p) == 0); int d = dup(p[1]); close(p[1]); assert(write(d, buf, 1) == 1); assert(ready(p[0], POLLIN) == POLLIN); close(d); assert(ready(p[0], POLLIN) == (POLLIN | POLLHUP))"},
		{name: "no reader", before: "assert(pipe(p) == 0); close(p[0]); signal(SIGPIPE, SIG_IGN); assert(write(p[1], buf, 1) == -1 && errno == EPIPE && ready(p[1], POLLOUT) & POLLERR)"},
		{name: "no reader kills", before: "assert(pipe(p) == 0); close(p[0]); write(p[1], buf, 1)", kind: trace.Signal, status: 13, virtual: true},
		{name: "non-blocking", before: `assert(pipe2(p, O_NONBLOCK) == 0); assert(read(p[0], buf, 1) == -1 && errno == EAGAIN); assert(fcntl(p[0], F_GETFL) == (O_RDONLY | O_NONBLOCK) && fcntl(p[1], F_GETFL) == (O_WRONLY | O_NONBLOCK)); assert(write(p[1], buf, sizeof buf) == 65536 && write(p[1], buf, 1) == -1 && errno == EAGAIN); fcntl(p[0], F_SETFL, 0); assert(fcntl(p[0], F_GETFL) == O_RDONLY); int n; assert(ioctl(p[0], FIONREAD, &n) == 0 && n == 65536)`},
		{name: "nothing hides O_NONBLOCK", before: "assert(pipe(p) == 0 && fcntl(p[0], F_GETFL) == O_RDONLY && fcntl(p[1], F_GETFL) == O_WRONLY)"},
		{name: "a full pipe", before: "assert(pipe(p) == 0)", body: "long n = 0; while (n < (long)sizeof buf) { long k = read(p[0], buf, 5000); assert(k > 0); n += k; }", main: "assert(write(p[1], buf, sizeof buf) == sizeof buf)"},
		{name: "a small write is whole", before: "assert(pipe2(p, O_NONBLOCK) == 0); while (write(p[1], buf, 4096) == 4096) ; read(p[0], buf, 4095); assert(write(p[1], buf, 4096) == -1 && errno == EAGAIN)"},
		{name: "wrong end", before: "assert(pipe(p) == 0); assert(write(p[0], buf, 1) == -1 && errno == EBADF && read(p[1], buf, 1) == -1 && errno == EBADF && lseek(p[0], 0, SEEK_SET) == -1 && errno == ESPIPE && pread(p[0], buf, 1, 0) == -1 && errno == ESPIPE)"},
		{name: "stat tells what it is", before: "struct stat st; pipe(p); fd = socket(AF_INET, SOCK_STREAM, 0); assert(fstat(p[0], &st) == 0 && S_ISFIFO(st.st_mode)); assert(fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)); assert(fcntl(p[0], F_GETFD) == 0 && fcntl(p[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(p[0], F_GETFD) == FD_CLOEXEC)"},
		{name: "gather and scatter", before: `assert(pipe(p) == 0); struct iovec v[3] = {{"ab", 2}, {"", 0}, {"cde", 3}}; assert(writev(p[1], v, 3) == 5); char x[2], y[8]; struct iovec w[2] = {{x, 2}, {y, 8}}; assert(readv(p[0], w, 2) == 5 && x[1] == 'b' && !memcmp(y, "cde", 3))`},
		{name: "dup2 closes", before: "assert(pipe(p) == 0 && pipe(q) == 0); assert(dup2(q[1], p[1]) == p[1]); assert(read(p[0], buf, 1) == 0); assert(write(p[1], buf, 1) == 1 && read(q[0], buf, 9) == 1)"},
		{name: "closed descriptors", before: "assert(pipe(p) == 0); close(p[0]); assert(read(p[0], buf, 1) == -1 && errno == EBADF && close(p[0]) == -1 && errno == EBADF && dup(p[0]) == -1 && fcntl(p[0], F_GETFL) == -1 && errno == EBADF && ready(p[0], POLLIN) == POLLNVAL)"},

		{name: "eventfd", before: "fd = eventfd(3, 0); uint64_t v = 4; assert(write(fd, &v, 8) == 8 && read(fd, &v, 8) == 8 && v == 7); assert(read(fd, &v, 7) == -1 && errno == EINVAL); v = ~0ull; assert(write(fd, &v, 8) == -1 && errno == EINVAL); assert(ready(fd, POLLIN | POLLOUT) == POLLOUT)", body: "eventfd_write(fd, 5)", main: "eventfd_t v; assert(eventfd_read(fd, &v) == 0 && v == 5)"},
		{name: "eventfd as semaphore", before: "fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK); eventfd_t v; assert(eventfd_read(fd, &v) == 0 && v == 1 && eventfd_read(fd, &v) == 0 && v == 1 && eventfd_read(fd, &v) == -1 && errno == EAGAIN)"},
		{name: "eventfd full", before: "fd = eventfd(0, 0); eventfd_write(fd, ~0ull - 1); assert(ready(fd, POLLIN | POLLOUT) == POLLIN)", body: "eventfd_write(fd, 1)", main: "eventfd_t v; assert(eventfd_read(fd, &v) == 0 && v == ~0ull - 1 && eventfd_read(fd, &v) == 0 && v == 1)"},

		{name: "timerfd", before: "p[0] = (int)now(); fd = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec i = {{0, 20000000}, {0, 50000000}}, o; assert(timerfd_settime(fd, 0, &i, &o) == 0 && o.it_value.tv_nsec == 0 && timerfd_gettime(fd, &o) == 0 && o.it_interval.tv_nsec == 20000000 && o.it_value.tv_nsec > 40000000)", body: "uint64_t v; assert(read(fd, &v, 8) == 8 && v >= 1 && (int)now() - p[0] >= 49); assert(read(fd, &v, 8) == 8 && (int)now() - p[0] >= 69)"},
		{name: "timerfd disarmed", before: "fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK); uint64_t v; assert(read(fd, &v, 8) == -1 && errno == EAGAIN); assert(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0) == -1 && errno == EINVAL)"},
		{name: "timerfd set while a thread reads", before: "fd = timerfd_create(CLOCK_MONOTONIC, 0)", body: "uint64_t v; assert(read(fd, &v, 8) == 8 && v == 1)", main: "struct itimerspec i = {{0, 0}, {0, 30000000}}; timerfd_settime(fd, 0, &i, NULL)"},
		{name: "timerfd absolute", before: "fd = timerfd_create(CLOCK_REALTIME, 0); struct itimerspec i = {}; clock_gettime(CLOCK_REALTIME, &i.it_value); i.it_value.tv_nsec = 0; i.it_value.tv_sec++; timerfd_settime(fd, TFD_TIMER_ABSTIME, &i, NULL); uint64_t v; struct timespec n; assert(read(fd, &v, 8) == 8 && clock_gettime(CLOCK_REALTIME, &n) == 0 && n.tv_sec >= i.it_value.tv_sec)"},
		{name: "a long time passes at once", before: "fd = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec i = {{0, 0}, {100000, 0}}; timerfd_settime(fd, 0, &i, NULL); uint64_t v; assert(read(fd, &v, 8) == 8)", virtual: true},

		{name: "poll waits", before: "assert(pipe(p) == 0 && pipe(q) == 0)", body: "write(q[1], buf, 1)", main: "struct pollfd x[2] = {{p[0], POLLIN, 0}, {q[0], POLLIN, 0}}; assert(poll(x, 2, -1) == 1 && x[0].revents == 0 && x[1].revents == POLLIN)"},
		{name: "poll times out", before: "assert(pipe(p) == 0); long a = now(); struct pollfd x = {p[0], POLLIN, 7}; assert(poll(&x, 1, 30) == 0 && x.revents == 0 && now() - a >= 29); assert(poll(NULL, 0, 20) == 0 && now() - a >= 49); x.fd = -1; assert(poll(&x, 1, 1) == 0)"},
		{name: "ppoll", before: "assert(pipe(p) == 0); struct timespec ts = {0, 10000000}; struct pollfd x = {p[1], POLLOUT, 0}; assert(ppoll(&x, 1, &ts, NULL) == 1 && x.revents == POLLOUT); ts.tv_nsec = -1; assert(ppoll(&x, 1, &ts, NULL) == -1 && errno == EINVAL)"},
		{name: "select", before: "assert(pipe(p) == 0)", body: "write(p[1], buf, 1)", main: "fd_set r, w; FD_ZERO(&r); FD_ZERO(&w); FD_SET(p[0], &r); assert(select(p[0] + 1, &r, &w, NULL, NULL) == 1 && FD_ISSET(p[0], &r)); read(p[0], buf, 1); struct timeval tv = {0, 20000}; assert(select(p[0] + 1, &r, NULL, NULL, &tv) == 0 && !FD_ISSET(p[0], &r) && tv.tv_usec == 0); FD_SET(p[0], &r); FD_SET(p[1], &w); struct timespec ts = {1, 0}; assert(pselect(p[1] + 1, &r, &w, NULL, &ts, NULL) == 1 && FD_ISSET(p[1], &w) && !FD_ISSET(p[0], &r)); FD_SET(50, &r); assert(select(51, &r, NULL, NULL, NULL) == -1 && errno == EBADF)"},

		{name: "epoll", before: "ep = epoll_create1(0); assert(pipe(p) == 0); struct epoll_event e = {.events = EPOLLIN, .data.u64 = 77}, o[4]; assert(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) == 0 && epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) == -1 && errno == EEXIST && epoll_wait(ep, o, 4, 0) == 0)", body: "write(p[1], buf, 2)", main: "struct epoll_event o[4]; assert(epoll_wait(ep, o, 4, -1) == 1 && o[0].data.u64 == 77 && o[0].events == EPOLLIN); assert(epoll_wait(ep, o, 4, 10) == 1 && ready(ep, POLLIN) == POLLIN); read(p[0], buf, 9); assert(epoll_wait(ep, o, 4, 10) == 0); close(p[1]); assert(epoll_wait(ep, o, 4, 0) == 1 && o[0].events == EPOLLHUP); close(p[0]); assert(epoll_wait(ep, o, 4, 0) == 0)"},
		{name: "epoll edges", before: "ep = epoll_create1(0); assert(pipe(p) == 0); struct epoll_event e = {.events = EPOLLIN | EPOLLET}, o[4]; write(p[1], buf, 2); epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e); assert(epoll_wait(ep, o, 4, 0) == 1 && epoll_wait(ep, o, 4, 0) == 0); read(p[0], buf, 1); assert(epoll_wait(ep, o, 4, 0) == 0); write(p[1], buf, 1); assert(epoll_wait(ep, o, 4, 0) == 1 && epoll_wait(ep, o, 4, 0) == 0); epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &e); assert(epoll_wait(ep, o, 4, 0) == 1); close(p[1]); assert(epoll_wait(ep, o, 4, 0) == 1 && o[0].events == (EPOLLIN | EPOLLHUP))"},
		{name: "epoll once", before: "ep = epoll_create1(0); fd = eventfd(1, 0); struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT}, o[4]; epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e); assert(epoll_wait(ep, o, 4, 0) == 1 && epoll_wait(ep, o, 4, 0) == 0); epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e); assert(epoll_wait(ep, o, 4, 0) == 1)"},
		{name: "epoll and turns", before: "ep = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN}, o; for (int i = 0; i < 3; i++) { int f = eventfd(1, 0); e.data.fd = i; epoll_ctl(ep, EPOLL_CTL_ADD, f, &e); } int seen = 0; for (int i = 0; i < 3; i++) { assert(epoll_wait(ep, &o, 1, 0) == 1); seen |= 1 << o.data.fd; } assert(seen == 7)"},
		{name: "epoll of a timer", before: "ep = epoll_create1(0); fd = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec i = {{0, 10000000}, {0, 10000000}}; timerfd_settime(fd, 0, &i, NULL); struct epoll_event e = {.events = EPOLLIN | EPOLLET}, o; epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e); long a = now(); uint64_t v; for (int k = 0; k < 3; k++) { assert(epoll_wait(ep, &o, 1, -1) == 1 && epoll_wait(ep, &o, 1, 0) == 0); read(fd, &v, 8); } assert(now() - a >= 29)"},
		{name: "epoll errors", before: "ep = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN}; assert(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &e) == -1 && errno == EINVAL); assert(epoll_ctl(ep, EPOLL_CTL_DEL, eventfd(0, 0), NULL) == -1 && errno == ENOENT); assert(epoll_ctl(ep, EPOLL_CTL_ADD, 999, &e) == -1 && errno == EBADF); assert(epoll_ctl(0, EPOLL_CTL_ADD, ep, &e) == -1 && errno == EINVAL); assert(epoll_wait(ep, &e, 0, 0) == -1 && errno == EINVAL && epoll_create(0) == -1); fd = open(\"/proc/self/exe\", O_RDONLY); assert(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == -1 && errno == EPERM)"},

		{name: "socketpair", before: "assert(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0)", body: `char c[4]; assert(recv(p[1], c, 4, MSG_WAITALL) == 4 && !memcmp(c, "ping", 4)); assert(send(p[1], "pong", 4, 0) == 4); shutdown(p[1], SHUT_WR)`, main: `write(p[0], "pi", 2); write(p[0], "ng", 2); char c[9]; int n = 0, k; while ((k = read(p[0], c + n, 9 - n)) > 0) n += k; assert(k == 0 && n == 4)`},
		{name: "packets", before: `assert(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p) == 0); send(p[0], "abc", 3, 0); send(p[0], "de", 2, 0); char c[2]; assert(recv(p[1], c, 2, MSG_PEEK) == 2 && recv(p[1], c, 2, MSG_TRUNC) == 3 && recv(p[1], c, 2, 0) == 2 && c[0] == 'd'); close(p[0]); assert(recv(p[1], c, 2, 0) == 0)`},
		{name: "datagrams", before: `int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0); struct sockaddr_in at = loop(0), from; socklen_t n = sizeof from; assert(bind(a, (void *)&at, sizeof at) == 0); at = loop(port_of(a)); assert(sendto(b, "hey", 3, 0, (void *)&at, sizeof at) == 3); assert(ready(a, POLLIN) == POLLIN && recvfrom(a, buf, 9, 0, (void *)&from, &n) == 3 && ntohs(from.sin_port) == port_of(b)); assert(connect(b, (void *)&at, sizeof at) == 0 && send(b, buf, 0, 0) == 0 && recv(a, buf, 9, 0) == 0)`},
		{name: "a peer that left unread data", before: `assert(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0); write(p[0], "x", 1); close(p[1]); assert(read(p[0], buf, 1) == -1 && errno == ECONNRESET && read(p[0], buf, 1) == 0)`},
		{name: "tcp", before: "fd = server(0)", body: `int c = client(port_of(fd)); assert(c >= 0); assert(send(c, "abc", 3, 0) == 3); char x[9]; assert(recv(c, x, 9, 0) == 2 && recv(c, x, 9, 0) == 0); close(c)`, main: `struct sockaddr_in a; socklen_t n = sizeof a; int s = accept(fd, (void *)&a, &n); assert(s >= 0 && n == sizeof a && a.sin_addr.s_addr == htonl(INADDR_LOOPBACK)); assert(port_of(s) == port_of(fd)); char x[3]; assert(recv(s, x, 3, MSG_WAITALL) == 3 && send(s, "ok", 2, 0) == 2); int one = 1, v; n = sizeof v; assert(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0 && getsockopt(s, IPPROTO_TCP, TCP_NODELAY, &v, &n) == 0 && v); close(s)`},
		{name: "refused", before: "fd = server(0); int port = port_of(fd); close(fd); assert(client(port) == -ECONNREFUSED)"},
		{name: "in use", before: "fd = server(0); struct sockaddr_in a = loop(port_of(fd)); int s = socket(AF_INET, SOCK_STREAM, 0); assert(bind(s, (void *)&a, sizeof a) == -1 && errno == EADDRINUSE)"},
		{name: "no address yet", before: "int s = socket(AF_INET, SOCK_STREAM, 0); assert(send(s, buf, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE && recv(s, buf, 1, 0) == -1 && errno == ENOTCONN && shutdown(s, SHUT_WR) == -1 && errno == ENOTCONN && accept(s, NULL, NULL) == -1 && errno == EINVAL); assert(listen(0, 1) == -1 && errno == ENOTSOCK && send(99, buf, 1, 0) == -1 && errno == EBADF)"},
		{name: "connecting without blocking", before: "fd = server(0); int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), e; socklen_t n = sizeof e; struct sockaddr_in a = loop(port_of(fd)); assert(connect(s, (void *)&a, sizeof a) == -1 && errno == EINPROGRESS); struct pollfd x = {s, POLLOUT, 0}; assert(poll(&x, 1, -1) == 1 && getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n) == 0 && e == 0); assert(recv(s, buf, 1, 0) == -1 && errno == EAGAIN)"},
		{name: "shutdown ends accept", before: "fd = server(0)", body: "assert(accept(fd, NULL, NULL) == -1 && errno == EINVAL)", main: "shutdown(fd, SHUT_RDWR)"},
		{name: "shutdown ends accept of a named listener", before: `struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0shut"}; fd = socket(AF_UNIX, SOCK_STREAM, 0); assert(bind(fd, (void *)&a, sizeof a) == 0 && listen(fd, 5) == 0)`, body: "assert(accept(fd, NULL, NULL) == -1 && errno == EINVAL)", main: `assert(shutdown(fd, SHUT_RDWR) == 0 && ready(fd, POLLIN) == (POLLIN | POLLHUP)); struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0shut"}; assert(connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, sizeof a) == -1 && errno == ECONNREFUSED)`},
		{name: "a reset wakes a reader", before: "fd = server(0); p[0] = client(port_of(fd)); p[1] = accept(fd, NULL, NULL); assert(p[1] >= 0)", body: "assert(read(p[0], buf, 9) == -1 && errno == ECONNRESET)", main: "assert(write(p[0], buf, 1) == 1); close(p[1])"},
		{name: "a reset wakes a writer", before: "fd = server(0); p[0] = client(port_of(fd)); p[1] = accept(fd, NULL, NULL); assert(p[1] >= 0)", body: "while (send(p[0], buf, sizeof buf, MSG_NOSIGNAL) == sizeof buf) ; assert(send(p[0], buf, 1, MSG_NOSIGNAL) == -1 && (errno == ECONNRESET || errno == EPIPE))", main: "assert(read(p[1], buf + 1, 1) == 1); close(p[1])"},
		{name: "receive time-out", before: "assert(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0); struct timeval tv = {0, 30000}; setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv); long a = now(); assert(recv(p[0], buf, 1, 0) == -1 && errno == EAGAIN && now() - a >= 29)"},
		{name: "ipv6", before: "fd = socket(AF_INET6, SOCK_STREAM, 0); struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}; socklen_t n = sizeof a; assert(bind(fd, (void *)&a, sizeof a) == 0 && listen(fd, 1) == 0 && getsockname(fd, (void *)&a, &n) == 0 && n == sizeof a); int s = socket(AF_INET6, SOCK_STREAM, 0); assert(connect(s, (void *)&a, n) == 0 && getpeername(s, (void *)&a, &n) == 0 && IN6_IS_ADDR_LOOPBACK(&a.sin6_addr))", virtual: true},
		{name: "messages", before: `assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, p) == 0); struct iovec v[2] = {{"ab", 2}, {"c", 1}}; struct msghdr h = {.msg_iov = v, .msg_iovlen = 2}; assert(sendmsg(p[0], &h, 0) == 3); char x[2]; struct iovec w = {x, 2}; struct msghdr r = {.msg_iov = &w, .msg_iovlen = 1}; assert(recvmsg(p[1], &r, 0) == 2 && r.msg_flags == MSG_TRUNC && x[1] == 'b')`},
		{name: "unix by name", before: `struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "s.sock"}; unlink("s.sock"); fd = socket(AF_UNIX, SOCK_STREAM, 0); int s = socket(AF_UNIX, SOCK_STREAM, 0); assert(connect(s, (void *)&a, sizeof a) == -1 && errno == ENOENT); assert(bind(fd, (void *)&a, sizeof a) == 0); assert(connect(s, (void *)&a, sizeof a) == -1 && errno == ECONNREFUSED); assert(listen(fd, 1) == 0 && connect(s, (void *)&a, sizeof a) == 0 && write(s, "x", 1) == 1); int c = accept(fd, NULL, NULL); assert(read(c, buf, 9) == 1); int z = socket(AF_UNIX, SOCK_STREAM, 0); assert(bind(z, (void *)&a, sizeof a) == -1 && errno == EADDRINUSE); assert(unlink("s.sock") == 0 && bind(z, (void *)&a, sizeof a) == 0); unlink("s.sock")`},
		{name: "a backlog of one", before: "fd = server(0); listen(fd, 0)", body: "int a = client(port_of(fd)), b = client(port_of(fd)); assert(a >= 0 && b >= 0)", main: "int a = accept(fd, NULL, NULL), b = accept(fd, NULL, NULL); assert(a >= 0 && b >= 0)"},

		{name: "a reader that nobody writes to", before: "assert(pipe(p) == 0)", body: "read(p[0], buf, 1)", kind: trace.Deadlock, message: "T1 reads from pipe fd 3", virtual: true},
		{name: "a full pipe with one thread", before: "assert(pipe(p) == 0)", main: "write(p[1], buf, 65537)", kind: trace.Deadlock, message: "T0 writes to pipe fd 4", virtual: true},
		{name: "nobody connects", before: "fd = server(0)", body: "accept(fd, NULL, NULL)", kind: trace.Deadlock, message: "T1 accepts on socket fd 3", virtual: true},
		{name: "a poll that never ends", before: "assert(pipe(p) == 0 && pipe(q) == 0)", body: "struct pollfd x[2] = {{p[0], POLLIN, 0}, {q[0], POLLIN, 0}}; poll(x, 2, -1)", kind: trace.Deadlock, message: "T1 polls fd 3, fd 5", virtual: true},
		{name: "an epoll wait that never ends", before: "ep = epoll_create1(0); fd = eventfd(0, 0); struct epoll_event e = {.events = EPOLLIN}; epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e)", body: "struct epoll_event o; epoll_wait(ep, &o, 1, -1)", kind: trace.Deadlock, message: "T1 waits on epoll fd 3", virtual: true},
		{name: "a close does not wake a reader", before: "assert(pipe(p) == 0)", body: "read(p[0], buf, 1)", main: "usleep(1000); close(p[0])", kind: trace.Deadlock, message: "T1 reads from pipe fd 3", virtual: true},

		{name: "a stream waits", before: `assert(pipe(p) == 0)`, body: `FILE *f = fdopen(p[0], "r"); char c[9]; assert(fgets(c, 9, f) && !strcmp(c, "word\n") && fclose(f) == 0)`, main: `FILE *f = fdopen(p[1], "w"); assert(fputs("word\n", f) >= 0 && fclose(f) == 0)`},
		{name: "a stream that nobody writes to", before: `assert(pipe(p) == 0)`, body: `fgetc(fdopen(p[0], "r"))`, kind: trace.Deadlock, message: "T1 reads from pipe fd 3", virtual: true},
		{name: "in the place of output", before: `assert(pipe(p) == 0); int out = dup(1); dup2(p[1], 1); printf("a%d", 1); fflush(stdout); dup2(out, 1); assert(read(p[0], buf, 9) == 2 && !memcmp(buf, "a1", 2)); printf("not in the pipe"); close(p[1]); fflush(stdout); close(out)`},
		{name: "freopen over a pipe", before: `pipe(p); dup2(p[1], 1); freopen("x", "w", stdout)`, kind: trace.Unsupported, message: "freopen", virtual: true},
		{name: "dprintf", before: `pipe(p); assert(dprintf(p[1], "%d-%s", 12, "ab") == 5 && read(p[0], buf, 99) == 5 && !memcmp(buf, "12-ab", 5))`},
		{name: "descriptors over sockets", before: `socketpair(AF_UNIX, SOCK_STREAM, 0, p); char c[64] = {0}; struct msghdr h = {.msg_control = c, .msg_controllen = 64}; sendmsg(p[0], &h, 0)`, kind: trace.Unsupported, message: "sendmsg", virtual: true},
		{name: "sendfile", before: `assert(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0); fd = open("sent", O_RDWR | O_CREAT | O_TRUNC, 0600); assert(write(fd, buf, 200000) == 200000 && pwrite(fd, "ab", 2, 199998) == 2)`, body: `off_t at = 0; assert(sendfile(p[0], fd, &at, 300000) == 200000 && at == 200000 && lseek(fd, 0, SEEK_CUR) == 200000); assert(sendfile(p[0], fd, NULL, 9) == 0); lseek(fd, 199998, SEEK_SET); assert(sendfile(p[0], fd, NULL, 9) == 2 && lseek(fd, 0, SEEK_CUR) == 200000); close(p[0])`, main: `char c[4096]; long n = 0, k, last = 0; while ((k = read(p[1], c, sizeof c)) > 0) { n += k; last = c[k - 1]; } assert(k == 0 && n == 200002 && last == 'b'); unlink("sent")`},
		{name: "sendfile errors", before: `assert(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, q) == 0); fd = open("/proc/self/exe", O_RDONLY); assert(sendfile(99, fd, NULL, 9) == -1 && errno == EBADF && sendfile(p[1], 99, NULL, 9) == -1 && errno == EBADF); off_t at = -1; assert(sendfile(p[1], fd, &at, 9) == -1 && errno == EINVAL); fcntl(q[0], F_SETFL, O_NONBLOCK); at = 0; long n = sendfile(q[0], fd, &at, 1 << 30); assert(n > 0 && at == n); while (n > 0) n = sendfile(q[0], fd, &at, 1); assert(n == 0 || errno == EAGAIN); close(p[0]); signal(SIGPIPE, SIG_IGN); at = 0; assert(sendfile(p[1], fd, &at, 9) == -1 && errno == EPIPE && at == 0)`},
		{name: "sendfile from a pipe", before: `pipe(p); sendfile(p[1], p[0], NULL, 1)`, kind: trace.Unsupported, message: "sendfile from a pipe", virtual: true},
		{name: "copies between files", before: `fd = open("from", O_RDWR | O_CREAT | O_TRUNC, 0600); ep = open("to", O_RDWR | O_CREAT | O_TRUNC, 0600); for (int i = 0; i < 200000; i++) buf[i] = (char)i; assert(write(fd, buf, 200000) == 200000 && write(ep, "xyz", 3) == 3); off_t a = 5, b = 2; assert(copy_file_range(fd, &a, ep, &b, 1000000, 0) == 199995 && a == 200000 && b == 199997 && lseek(ep, 0, SEEK_CUR) == 3); char c[4]; assert(pread(ep, c, 4, 0) == 4 && c[1] == 'y' && c[2] == 5 && c[3] == 6); lseek(fd, 7, SEEK_SET); assert(syscall(SYS_copy_file_range, fd, NULL, ep, NULL, 2, 0) == 2 && lseek(fd, 0, SEEK_CUR) == 9 && lseek(ep, 0, SEEK_CUR) == 5 && pread(ep, c, 2, 3) == 2 && c[0] == 7); a = 200000; assert(copy_file_range(fd, &a, ep, NULL, 9, 0) == 0)`, main: `unlink("from"); unlink("to")`},
		{name: "errors of copies between files", before: `fd = open("errors", O_RDWR | O_CREAT | O_TRUNC, 0600); write(fd, buf, 100); off_t a = 0, b = 50; pipe(p); assert(copy_file_range(fd, &a, fd, &b, 60, 0) == -1 && errno == EINVAL && copy_file_range(fd, &a, fd, &b, 50, 0) == 50 && copy_file_range(fd, NULL, p[1], NULL, 1, 0) == -1 && errno == EINVAL && copy_file_range(p[0], NULL, fd, NULL, 1, 0) == -1 && errno == EINVAL && copy_file_range(fd, NULL, fd, NULL, 1, 4) == -1 && errno == EINVAL && copy_file_range(99, NULL, fd, NULL, 1, 0) == -1 && errno == EBADF); ep = open("errors", O_RDONLY); assert(copy_file_range(fd, NULL, ep, NULL, 1, 0) == -1 && errno == EBADF); close(ep); ep = open("errors", O_WRONLY | O_APPEND); a = 0; assert(copy_file_range(fd, &a, ep, NULL, 1, 0) == -1 && errno == EBADF && copy_file_range(ep, &a, fd, NULL, 1, 0) == -1 && errno == EBADF); ep = open(".", O_RDONLY); assert(copy_file_range(ep, NULL, fd, NULL, 1, 0) == -1 && errno == EISDIR); unlink("errors")`},
		{name: "another machine", before: `struct sockaddr_in a = loop(9); a.sin_addr.s_addr = htonl(0x0a000001); int s = socket(AF_INET, SOCK_STREAM, 0); connect(s, (void *)&a, sizeof a)`, kind: trace.Unsupported, message: "not loopback", virtual: true},
		{name: "inotify", before: `syscall(SYS_inotify_init1, 0)`, kind: trace.Unsupported, message: "the system call inotify_init1 (inotify), made with syscall()", virtual: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runIO(t, c)
		})
	}
}

func runIO(t *testing.T, c ioCase) {
	src := strings.NewReplacer("BEFORE", c.before, "BODY", c.body, "MAIN", c.main).Replace(ioFrame)
	prog := compile(t, src)
	if !c.virtual {
		alone(t, prog)
	}
	tg := start(t, prog)
	for _, p := range []schedule.Plan{
		{Policy: schedule.Fair}, {Policy: schedule.Random, Seed: 1}, {Policy: schedule.Random, Seed: 2}, {Policy: schedule.PCT, Seed: 3, Depth: 3, Length: 40}, {Policy: schedule.POS, Seed: 4},
	} {
		p.Record, p.MaxSteps = true, 100_000
		o := run(t, tg, p)
		e := o.Ending
		if e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.message) {
			t.Fatalf("%v: %v status %d %q, want %v %d %q", p.Policy, e.Kind, e.Status, e.Message, c.kind, c.status, c.message)
		}
		if c.kind == trace.Unsupported {
			return
		}
		if err := trace.Validate(o.Trace); err != nil {
			t.Error(err)
		}
		again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Record: true, MaxSteps: 100_000})
		if !reflect.DeepEqual(o.Trace.Events, again.Trace.Events) || again.Ending.Kind != e.Kind {
			t.Fatalf("%v: the replay is another execution: %v %+v", p.Policy, again.Ending.Kind, again.Diverged)
		}
	}
}
