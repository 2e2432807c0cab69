// heddle: A client takes what one recv gives for the whole reply, which the server sends in two parts.
// kind: assertion
// finding: got == 5
// minimum: switches=2 preemptions=1
// why: main waits for the reply, the server sends its first part and is left there, main takes it.
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void *server(void *arg) {
  char c;
  assert(read(pair[1], &c, 1) == 1);
  assert(send(pair[1], "head", 4, 0) == 4);
  assert(send(pair[1], "!", 1, 0) == 1);
  close(pair[1]);
  return arg;
}

int main(void) {
  pthread_t t;
  char reply[5];
  ssize_t got = 0;
  assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  pthread_create(&t, NULL, server, NULL);
  assert(send(pair[0], "?", 1, 0) == 1);
  got = recv(pair[0], reply, 5, 0);
  assert(got == 5);
  pthread_join(t, NULL);
  return 0;
}
// cause: : send(pair[1], "!" | recv(pair[0], reply
