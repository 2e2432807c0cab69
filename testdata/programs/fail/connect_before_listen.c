// heddle: A client is started before the server listens, and may be refused.
// kind: assertion
// finding: r == 0
// minimum: switches=1 preemptions=1
// why: The client must connect before main listens, for which main must be left at that point.
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at;
static int listener;

static void *client(void *arg) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  int r = connect(s, (struct sockaddr *)&at, sizeof at);
  assert(r == 0);
  close(s);
  return arg;
}

int main(void) {
  pthread_t t;
  socklen_t n = sizeof at;
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  assert(bind(listener, (struct sockaddr *)&at, sizeof at) == 0);
  assert(getsockname(listener, (struct sockaddr *)&at, &n) == 0);
  pthread_create(&t, NULL, client, NULL);
  assert(listen(listener, 1) == 0);
  int c = accept(listener, NULL, NULL);
  assert(c >= 0);
  close(c);
  pthread_join(t, NULL);
  return 0;
}
// cause: : connect(s, | listen(listener, 1)
