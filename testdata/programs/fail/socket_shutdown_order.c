// heddle: A client shuts both directions of its socket down when it has sent all, and loses the echo if that has not come yet.
// kind: assertion
// finding: n == 1
// minimum: switches=0 preemptions=0
// why: main alone: it sends, shuts down, and reads the end.
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void *echo(void *arg) {
  char c;
  while (recv(pair[1], &c, 1, 0) == 1)
    if (send(pair[1], &c, 1, MSG_NOSIGNAL) != 1) break;
  close(pair[1]);
  return arg;
}

int main(void) {
  pthread_t t;
  char c;
  assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  pthread_create(&t, NULL, echo, NULL);
  assert(send(pair[0], "x", 1, 0) == 1);
  shutdown(pair[0], SHUT_RDWR);
  ssize_t n = recv(pair[0], &c, 1, 0);
  assert(n == 1 && c == 'x');
  n = recv(pair[0], &c, 1, 0);
  assert(n == 0);
  pthread_join(t, NULL);
  return 0;
}
// cause: : send(pair[1], &c | shutdown(pair[0]
